// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import type { FleetMachine } from '../src/fleet/fleet-api';
import { alertText, hourlySeries, stateOf, unguardedOf } from '../src/fleet/fleet-text';

const machine = (more: Partial<FleetMachine>) =>
  ({ left: null, last_seen: '2026-11-15T20:00:00Z', status: null, ...more }) as FleetMachine;
const NOW = Date.parse('2026-11-15T20:04:00Z');

test('a machine is online while it sends messages', () => {
  expect(stateOf(machine({}), NOW)).toBe('online');
  expect(stateOf(machine({}), NOW + 300_000)).toBe('offline');
  expect(stateOf(machine({ left: '2026-11-15T20:00:00Z' }), NOW)).toBe('left');
});

test('harnesses without a guard are named', () => {
  const harnesses = [
    { harness: 'codex', guarded: false, state: 'not wired' },
    { harness: 'claude-code', guarded: true, state: 'guarded' },
  ];
  expect(unguardedOf(machine({ status: { harnesses } as never }))).toEqual(['codex']);
  expect(unguardedOf(machine({}))).toEqual([]);
});

test('hours without calls are part of the series, from the first call on', () => {
  const counts = [
    { hour: '2026-11-15T18:00:00Z', harness: 'codex', verdict: 'deny', calls: 2 },
    { hour: '2026-11-15T18:00:00Z', harness: 'gemini', verdict: 'none', calls: 5 },
    { hour: '2026-11-15T20:00:00Z', harness: 'codex', verdict: 'ask', calls: 1 },
  ];
  const { all, asked, denied } = hourlySeries(counts, NOW);
  expect([all, asked, denied].map((list) => list.slice(-3))).toEqual([
    [7, 0, 1],
    [0, 0, 1],
    [2, 0, 0],
  ]);
  expect(all.length).toBe(12);
  expect(hourlySeries([], NOW).at).toEqual([]);
});

test('an unknown kind of alert is shown as it is', () => {
  expect([alertText('machine-silent'), alertText('other')]).toEqual([
    'This machine has sent nothing for too long.',
    'other',
  ]);
});
