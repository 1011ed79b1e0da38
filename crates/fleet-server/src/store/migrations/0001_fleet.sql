-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- Enrolment tokens. The secret is stored as a hash.
create table tokens (
    id text primary key,
    tenant text not null,
    secret_hash bytea not null,
    uses_left integer not null check (uses_left >= 0),
    expires timestamptz not null,
    labels jsonb not null default '{}',
    ci boolean not null default false,
    ring text not null,
    created_by text not null,
    created timestamptz not null default now(),
    revoked timestamptz
);

create table machines (
    id text primary key,
    tenant text not null,
    nkey text not null unique,
    instance text not null,
    host text not null,
    version text not null,
    labels jsonb not null default '{}',
    ci boolean not null default false,
    ring text not null,
    token text not null,
    origin text not null,
    -- Verifier keys of the ledger, oldest first.
    ledger_keys text[] not null,
    joined timestamptz not null default now(),
    left_at timestamptz,
    last_seen timestamptz not null default now(),
    -- Number of stored records, and the right edge of their tree.
    cursor bigint not null default 0,
    peaks bytea not null default '',
    -- Size of the largest checkpoint that the machine signed.
    signed_size bigint not null default 0,
    signed_note text not null default '',
    -- A checkpoint beyond the cursor that is cosigned when its records have arrived.
    pending_size bigint,
    pending_root bytea,
    pending_note text,
    witnessed_size bigint not null default 0,
    witnessed_root bytea not null default '',
    witnessed_note text not null default '',
    -- The stream and the sequence number of the last message that was processed.
    stream_epoch bigint not null default 0,
    stream_sequence bigint not null default 0,
    status jsonb,
    status_at timestamptz
);
create index machines_tenant on machines (tenant, host);
create unique index machines_origin on machines (tenant, origin) where left_at is null;

-- Where the records are: one row for each stored batch.
create table batches (
    machine text not null,
    first_record bigint not null,
    end_record bigint not null,
    root bytea not null,
    stream_epoch bigint not null,
    stream_sequence bigint not null,
    received timestamptz not null default now(),
    primary key (machine, first_record)
) partition by hash (machine);

-- Asked, denied and failed calls, and changes of protection. All other records stay in batches.
create table decisions (
    tenant text not null,
    machine text not null,
    record bigint not null,
    at timestamptz not null,
    kind text not null,
    verdict text,
    event text,
    harness text,
    tool text,
    rule text,
    session text,
    actor text,
    host text not null,
    cwd text,
    reason text,
    envelope text not null,
    primary key (machine, record)
) partition by hash (machine);

create table hourly_counts (
    tenant text not null,
    machine text not null,
    hour timestamptz not null,
    harness text not null,
    verdict text not null,
    calls bigint not null,
    primary key (machine, hour, harness, verdict)
) partition by hash (machine);

do $$
begin
    for part in 0..7 loop
        execute format('create table batches_%s partition of batches for values with (modulus 8, remainder %s)', part, part);
        execute format('create table decisions_%s partition of decisions for values with (modulus 8, remainder %s)', part, part);
        execute format('create table hourly_counts_%s partition of hourly_counts for values with (modulus 8, remainder %s)', part, part);
    end loop;
end $$;
create index decisions_at on decisions (tenant, at desc);
create index decisions_rule on decisions (tenant, rule, at desc) where rule is not null;
create index hourly_counts_hour on hourly_counts (tenant, hour);

create table alerts (
    id bigint generated always as identity primary key,
    tenant text not null,
    machine text not null,
    kind text not null,
    detail jsonb not null,
    raised timestamptz not null default now(),
    last_raised timestamptz not null default now(),
    times bigint not null default 1,
    acknowledged timestamptz,
    acknowledged_by text,
    ended timestamptz
);
create unique index alerts_open on alerts (tenant, machine, kind) where acknowledged is null and ended is null;
create index alerts_raised on alerts (tenant, raised desc);

create table operators (
    id text primary key,
    tenant text not null,
    name text not null,
    role text not null check (role in ('viewer', 'author', 'approver', 'admin')),
    public_key bytea not null unique,
    created_by text not null,
    created timestamptz not null default now(),
    revoked timestamptz
);

-- Nonces of signed requests, so that a request is accepted once by all copies of the server.
create table request_nonces (
    operator text not null,
    nonce bytea not null,
    expires timestamptz not null,
    primary key (operator, nonce)
);
create index request_nonces_expires on request_nonces (expires);

-- What operators and machines did. Each row is also a record in the ledger of the server that did it.
create table actions (
    id bigint generated always as identity primary key,
    tenant text not null,
    at timestamptz not null default now(),
    actor text not null,
    action text not null,
    detail jsonb not null,
    ledger text not null,
    record bigint not null
);
create index actions_at on actions (tenant, at desc);
