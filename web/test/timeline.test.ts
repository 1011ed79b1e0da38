// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import type { TimelineStep } from '../src/lib/api/types';
import { joined, rows } from '../src/lib/timeline';

const step = (seq: number, event: string, more: Partial<TimelineStep> = {}): TimelineStep => ({
  seq,
  event,
  id: null,
  ts: null,
  native_event: null,
  tool: null,
  tool_use_id: null,
  turn: null,
  session_check: null,
  agent: null,
  said: null,
  verdict: null,
  rule: null,
  by: null,
  reason: null,
  nudge: null,
  took_us: null,
  ran_ms: null,
  erased: false,
  undelivered: false,
  pruned: false,
  ...more,
});

test('a call and its result are one row, the newest first', () => {
  const steps = [
    step(1, 'prompt'),
    step(2, 'pre-tool', { tool_use_id: 'a' }),
    step(3, 'pre-tool', { tool_use_id: 'b', agent: { id: 'sub' } }),
    step(4, 'tool-error', { tool_use_id: 'b' }),
    step(5, 'post-tool', { tool_use_id: 'a' }),
    step(6, 'post-tool', { tool_use_id: 'unknown' }),
  ];
  const shown = rows(steps).map((row) => [row.step.seq, row.result?.seq, row.agent]);
  expect(shown).toEqual([
    [6, undefined, undefined],
    [3, 4, 'sub'],
    [2, 5, undefined],
    [1, undefined, undefined],
  ]);
});

test('overlapping pages have no duplicate steps', () => {
  const list = joined([step(4, 'stop'), step(5, 'prompt')], [step(2, 'prompt'), step(4, 'stop')]);
  expect(list.map((one) => one.seq)).toEqual([2, 4, 5]);
});
