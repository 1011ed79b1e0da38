-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- What a machine may upload in a day, and until when a machine that sent more is suspended.
alter table machines
    add column quota_since timestamptz not null default now(),
    add column quota_bytes bigint not null default 0,
    add column suspended_at timestamptz,
    add column suspended_until timestamptz,
    -- Number of the first record that came under a key that the server does not know.
    add column unverified_from bigint;
create index machines_suspended on machines (tenant, suspended_until) where suspended_until is not null;
