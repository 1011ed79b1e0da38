// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { hour, perMinute } from '../src/lib/decision-rate';

const now = Date.parse('2026-11-15T08:10:30Z');

test('minutes without decisions are included', () => {
  const minute = {
    at: '2026-11-15T08:09:00.000Z',
    verdicts: { none: 3, deny: 2 },
    p50_us: 40,
    p95_us: 90,
    p99_us: 95,
  };
  const { at, all, denied, p95 } = hour({ minutes: [minute] }, now, 3);
  expect(at.map((seconds) => new Date(seconds * 1000).toISOString().slice(11, 16))).toEqual([
    '08:08',
    '08:09',
    '08:10',
  ]);
  expect({ all, denied, p95 }).toEqual({ all: [0, 5, 0], denied: [0, 2, 0], p95: [null, 90, null] });
});

test('the last sixty seconds include part of the previous minute', () => {
  expect(perMinute([0, 10, 4], now)).toBe(9);
  expect(perMinute([], now)).toBe(0);
});
