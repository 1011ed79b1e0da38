-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- Machines that an operator has removed. Their evidence stays.
alter table machines
    add column revoked_at timestamptz,
    add column revoked_by text,
    add column revoke_reason text;
create index machines_revoked on machines (tenant, revoked_at) where revoked_at is not null;
