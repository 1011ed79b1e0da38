-- SPDX-License-Identifier: Apache-2.0 OR MIT

-- Whether a rule or a hook replaced the input of the call. The input itself stays on the machine.
alter table decisions add column rewritten boolean not null default false;
create index decisions_rewritten on decisions (tenant, at desc) where rewritten;
