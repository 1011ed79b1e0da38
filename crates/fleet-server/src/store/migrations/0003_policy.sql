-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- The keys that sign policy, as machines receive them when they enrol.
create table policy_roots (
    tenant text primary key,
    keys text[] not null,
    threshold integer not null check (threshold > 0),
    set_by text not null,
    set_at timestamptz not null default now()
);

-- Signed policy bundles. Their own signatures decide whether a machine accepts them.
create table policy_bundles (
    tenant text not null,
    version bigint not null,
    sha256 text not null,
    min_version bigint not null,
    not_after timestamptz not null,
    git_commit text,
    signed_by text[] not null,
    bytes bytea not null,
    pushed_by text not null,
    pushed timestamptz not null default now(),
    primary key (tenant, version)
);

-- The policy of each ring. `candidate`: machines only replay it and report counts.
create table rollouts (
    tenant text not null,
    ring text not null,
    version bigint not null,
    sha256 text not null,
    stage text not null check (stage in ('candidate', 'active', 'halted', 'stopped')),
    -- The version that the ring had before, or none.
    previous_version bigint,
    previous_sha256 text,
    -- Percentage of calls that the candidate may deny in addition.
    max_newly_denied double precision not null,
    reason text,
    changed_by text not null,
    changed timestamptz not null default now(),
    primary key (tenant, ring)
);

-- What machines reported about a candidate. Counts only.
create table rollout_counts (
    tenant text not null,
    ring text not null,
    version bigint not null,
    machine text not null,
    calls bigint not null,
    denied_before bigint not null,
    denied_after bigint not null,
    asked_before bigint not null,
    asked_after bigint not null,
    newly_denied bigint not null,
    reported timestamptz not null default now(),
    primary key (tenant, ring, version, machine)
);

-- Calls that wait for an approval. An answer is signed by an approver and verified by the machine.
create table approvals (
    tenant text not null,
    machine text not null,
    approval text not null,
    call text not null,
    digest text not null,
    expires timestamptz not null,
    asked timestamptz not null default now(),
    closed timestamptz,
    decision text,
    approver text,
    answered timestamptz,
    primary key (tenant, machine, approval)
);
create index approvals_open on approvals (tenant, expires) where closed is null;
