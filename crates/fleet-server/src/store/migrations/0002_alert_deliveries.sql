-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- Which alerts were delivered to which webhook. The target is a digest, because its URL is a secret.
create table alert_deliveries (
    alert bigint not null references alerts (id) on delete cascade,
    target text not null,
    delivered timestamptz not null default now(),
    primary key (alert, target)
);
