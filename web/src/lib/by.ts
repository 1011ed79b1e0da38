// SPDX-License-Identifier: Apache-2.0 OR MIT

// Which rule or hook decided: the id of a rule, or `hook:<id>`. Pure.

import { href } from './router.svelte';

interface Recorded {
  verdict?: string;
  policy_rule_id?: string;
  trace?: { by?: string; decision?: string | null }[];
}

/** Who decided, from the bytes of a record: the same as the daemon's `by`. */
export function decidedBy(record: Recorded): string | undefined {
  if (record.policy_rule_id) return record.policy_rule_id;
  if (!record.verdict || record.verdict === 'none') return undefined;
  return record.trace?.find((step) => step.decision === record.verdict && step.by?.startsWith('hook:'))?.by;
}

/** Where the rule or hook is shown. */
export function whereIs(by: string): string {
  const hook = /^hook:(.+)$/.exec(by)?.[1];
  return hook ? href(['hooks'], { hook }) : href(['rules'], { rule: by.replace(/^rule:/, '') });
}
