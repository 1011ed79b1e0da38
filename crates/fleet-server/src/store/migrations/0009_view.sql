-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- One-time links that sign an operator's browser in. Secrets are stored as hashes, so every copy of the server accepts
-- a link and a session, and a stolen database contains no usable secret.
create table sign_in_links (
    secret_hash text primary key,
    operator text not null references operators (id) on delete cascade,
    created timestamptz not null default now(),
    expires timestamptz not null
);
create index sign_in_links_operator on sign_in_links (operator, created);

create table browser_sessions (
    cookie_hash text primary key,
    page_key_hash text not null,
    operator text not null references operators (id) on delete cascade,
    created timestamptz not null default now(),
    expires timestamptz not null
);
create index browser_sessions_operator on browser_sessions (operator, created);

-- Every stage of every rollout. The table `rollouts` has only the current one.
create table rollout_history (
    id bigint generated always as identity primary key,
    tenant text not null,
    ring text not null,
    version bigint not null,
    stage text not null,
    reason text,
    changed_by text not null,
    changed timestamptz not null
);
create index rollout_history_changed on rollout_history (tenant, changed desc);

insert into rollout_history (tenant, ring, version, stage, reason, changed_by, changed)
    select tenant, ring, version, stage, reason, changed_by, changed from rollouts order by changed;

create or replace function note_rollout() returns trigger language plpgsql as $$
begin
    insert into rollout_history (tenant, ring, version, stage, reason, changed_by, changed)
        values (new.tenant, new.ring, new.version, new.stage, new.reason, new.changed_by, now());
    return new;
end $$;
create trigger rollouts_noted after insert or update on rollouts
    for each row execute function note_rollout();
