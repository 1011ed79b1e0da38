-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- Decisions that were not sent to the OpenTelemetry collector yet. Rows are added in the transaction of a batch and
-- removed when the collector has accepted them, so that each decision is sent at least once.
create table export_queue (
    id bigint generated always as identity primary key,
    tenant text not null,
    machine text not null,
    record bigint not null,
    queued timestamptz not null default now()
);
create index export_queue_queued on export_queue (queued);
