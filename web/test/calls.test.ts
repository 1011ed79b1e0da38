// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import type { ToolCallRow } from '../src/lib/api/types';
import { foldedText, isNotable, outcomeOf } from '../src/lib/call-row';
import { oldest, withNewest } from '../src/lib/calls.svelte';

const row = (seq: number, more: Partial<ToolCallRow> = {}) =>
  ({ seq, verdict: 'none', ...more }) as ToolCallRow;
const page = (rows: ToolCallRow[], next: number | null) => ({ rows, next, size: 100 });

test('a newer page goes before the known rows, and overlapping rows are replaced', () => {
  const finished = row(8, { result: { seq: 11, failed: false, ran_ms: 5, error: null } });
  const { rows, replaced } = withNewest([row(8), row(6), row(4)], page([row(10), finished], 8));
  expect(replaced).toBe(false);
  expect(rows.map(({ seq }) => seq)).toEqual([10, 8, 6, 4]);
  expect(rows[1]?.result?.ran_ms).toBe(5);
});

test('a page that does not reach the known rows replaces them, because rows are missing between', () => {
  const { rows, replaced } = withNewest([row(4)], page([row(20), row(12)], 12));
  expect([replaced, rows.length]).toEqual([true, 2]);
});

test('a folded row that grew replaces its older version', () => {
  const fold = (seq: number, first: number) =>
    row(seq, { folded: { first, count: seq - first + 1, events: { stop: 1 } } });
  const { rows } = withNewest([fold(9, 7), row(6), row(5)], page([fold(11, 7), row(6)], 6));
  expect(rows.map((one) => [one.seq, oldest(one)])).toEqual([
    [11, 7],
    [6, 6],
    [5, 5],
  ]);
});

test('asked, denied, rewritten and failed calls are notable', () => {
  const failed = { seq: 2, failed: true, ran_ms: null, error: 'no such file' };
  expect(
    [row(1), row(1, { verdict: 'deny' }), row(1, { rewritten: true }), row(1, { result: failed })].map(
      isNotable,
    ),
  ).toEqual([false, true, true, true]);
  expect(outcomeOf(row(1, { result: failed }))).toEqual({
    text: 'failed',
    tone: 'bad',
    title: 'no such file',
  });
});

test('a folded row names its events, most frequent first', () => {
  expect(
    foldedText({
      first: 1,
      count: 6,
      events: { stop: 1, notification: 3, 'session-start': 1, 'pre-compact': 1 },
    }),
  ).toBe('3 × notification, stop, session-start, …');
});
