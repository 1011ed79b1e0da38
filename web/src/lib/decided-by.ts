// SPDX-License-Identifier: Apache-2.0 OR MIT

// The deciding rule or hook of a record: a rule id, or `hook:<id>`.

import { href } from './router.svelte';

interface Recorded {
  verdict?: string;
  policy_rule_id?: string;
  trace?: { by?: string; decision?: string | null }[];
}

/** Returns the rule or hook that decided, in the same format as the field `by` of the daemon's events. */
export function decidedBy(record: Recorded): string | undefined {
  if (record.policy_rule_id) return record.policy_rule_id;
  if (!record.verdict || record.verdict === 'none') return undefined;
  return record.trace?.find((step) => step.decision === record.verdict && step.by?.startsWith('hook:'))?.by;
}

/** Link to the rule or hook. */
export function deciderLink(by: string): string {
  const hook = /^hook:(.+)$/.exec(by)?.[1];
  return hook ? href(['hooks'], { hook }) : href(['rules'], { rule: by.replace(/^rule:/, '') });
}
