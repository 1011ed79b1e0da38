// SPDX-License-Identifier: Apache-2.0 OR MIT

// What a row of a call shows.

import type { ToolCallRow } from './api/types';
import { millis } from './format';

export type CallOutcome = { text: string; tone: 'good' | 'bad' | 'plain'; title?: string };

/** Result of a call; undefined if the call did not run or its result is not known. */
export function outcomeOf(row: ToolCallRow): CallOutcome | undefined {
  if (!row.result) return undefined;
  return row.result.failed
    ? { text: 'failed', tone: 'bad', title: row.result.error ?? undefined }
    : { text: 'ok', tone: 'plain' };
}

/** Run time of the tool. */
export const runTime = (row: ToolCallRow): string =>
  typeof row.result?.ran_ms === 'number' ? millis(row.result.ran_ms) : '';

/** `12 events: 8 notification, 4 stop` */
export function foldedText(folded: NonNullable<ToolCallRow['folded']>): string {
  const kinds = Object.entries(folded.events).sort(([, a], [, b]) => b - a);
  const shown = kinds.slice(0, 3).map(([name, count]) => (count > 1 ? `${count} × ${name}` : name));
  return `${shown.join(', ')}${kinds.length > 3 ? ', …' : ''}`;
}

/** Whether a row is one of those that are shown by default. */
export const isNotable = (row: ToolCallRow): boolean =>
  row.verdict === 'deny' || row.verdict === 'ask' || row.rewritten === true || row.result?.failed === true;
