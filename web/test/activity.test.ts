// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { activitySeries, bucketLabel } from '../src/lib/activity-series';
import { rows } from '../src/lib/timeline';
import { durationOf, spans } from '../src/lib/waterfall';

test('empty buckets are part of a series', () => {
  const counts = { all: 5, asked: 1, denied: 2 };
  const series = activitySeries({
    from: '2026-11-15T08:00:00Z',
    until: '2026-11-15T08:02:30Z',
    bucket_ms: 60_000,
    buckets: [{ at: '2026-11-15T08:01:00Z', counts, decision_time: { p50_us: 3, p95_us: 4, p99_us: 5 } }],
    total: counts,
    decision_time: null,
    rules: [],
    harnesses: [],
    tools: [],
    sampled: false,
  });
  expect(series.all).toEqual([0, 5, 0]);
  expect(series.p99).toEqual([null, 5, null]);
  expect((series.at[1] ?? 0) - (series.at[0] ?? 0)).toBe(60);
});

test('the duration of a bucket has a name', () => {
  expect([15_000, 60_000, 1_800_000, 3_600_000, 86_400_000].map(bucketLabel)).toEqual([
    'per 15 seconds',
    'per minute',
    'per 30 minutes',
    'per hour',
    'per day',
  ]);
});

const step = (seq: number, second: number, more: object) =>
  ({ seq, ts: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(), ...more }) as never;

test('a waterfall shows durations, and shortens idle time', () => {
  const made = rows([
    step(1, 0, { event: 'pre-tool', tool_use_id: 'a' }),
    step(2, 2, { event: 'post-tool', tool_use_id: 'a' }),
    step(3, 3602, { event: 'pre-tool', tool_use_id: 'b' }),
    step(4, 3605, { event: 'post-tool', tool_use_id: 'b', ran_ms: 1000 }),
  ]);
  expect(made.map(durationOf)).toEqual([1000, 2000]);
  // 2 s of work, 5 s that stand for an hour of idle time, and 1 s of work.
  const placed = spans(made);
  expect(placed.get(1)).toEqual({ start: 0, length: 2 / 8, ms: 2000 });
  expect(placed.get(3)).toEqual({ start: 7 / 8, length: 1 / 8, ms: 1000 });
});
