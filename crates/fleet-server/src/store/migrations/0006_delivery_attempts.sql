-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- A delivery that failed is tried again after a pause, and does not hold up others.
alter table alert_deliveries
    alter column delivered drop not null,
    alter column delivered drop default,
    add column attempts integer not null default 0,
    add column next_attempt timestamptz;

-- Which waiting approvals were announced to which webhook.
create table approval_deliveries (
    tenant text not null,
    machine text not null,
    approval text not null,
    target text not null,
    delivered timestamptz,
    attempts integer not null default 0,
    next_attempt timestamptz,
    primary key (tenant, machine, approval, target),
    foreign key (tenant, machine, approval) references approvals (tenant, machine, approval) on delete cascade
);
