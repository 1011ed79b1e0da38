// SPDX-License-Identifier: Apache-2.0 OR MIT

// The words for verdicts that users read. The API and the ledger use other words, such as `deny`.

const LABELS: Record<string, string> = {
  none: 'no match',
  allow: 'allowed',
  defer: 'deferred',
  ask: 'asked',
  deny: 'denied',
};

/** The label of a verdict; an unknown word is returned unchanged. */
export function verdictLabel(verdict: string): string {
  return LABELS[verdict] ?? verdict;
}

/** The label of a rule's verdict. A rule without a verdict only observes, and may save what a call discards. */
export const ruleVerdictLabel = (verdict: string): string =>
  verdict === 'none' ? 'observed' : verdictLabel(verdict);
