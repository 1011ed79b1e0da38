// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import type { FleetMachine } from '../src/fleet/fleet-api';
import {
  alertText,
  approveCommand,
  behindText,
  coverageOf,
  hourlySeries,
  readCall,
  replayPercent,
  stageText,
  startTime,
  stateOf,
  unguardedOf,
  visibleText,
} from '../src/fleet/fleet-text';

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
    [0, 1, 0],
    [0, 1, 0],
    [0, 0, 0],
  ]);
  expect([all.at(-4), denied.at(-4)]).toEqual([7, 2]);
  expect(all.length).toBe(13);
  expect(hourlySeries([], NOW).at).toEqual([]);
});

test('an unknown kind of alert is shown as it is', () => {
  expect([alertText('machine-silent'), alertText('other')]).toEqual([
    'This machine has sent nothing for too long.',
    'other',
  ]);
});

test('the call of an approval is read, and hidden characters are shown', () => {
  const call = readCall(
    '{"wants":"rm a","source":"codex","args":{"command":"rm a"},"reasons":[{"by":"rule:x","said":"why"},null]}',
  );
  expect([call?.wants, call?.source, call?.reasons]).toEqual([
    'rm a',
    'codex',
    [
      { by: 'rule:x', said: 'why' },
      { by: '""', said: '' },
    ],
  ]);
  expect([readCall('{'), readCall('null')]).toEqual([undefined, undefined]);
  expect(visibleText('rm a\u202eb\u200b\u{e0041}\nü')).toBe('rm a\\u{202e}b\\u{200b}\\u{e0041}\nü');
  expect(approveCommand('01KB4Z9QXYJ3M5P7R9T1V3W5X7')).toBe(
    'tenterhook fleet approve T1V3W5X7 --sign YOUR.key',
  );
});

test('a time range becomes a start', () => {
  expect(
    ['24h', '15m', '7d', 'all', undefined, '2026-11-01T00:00:00Z'].map((one) => startTime(one, NOW)),
  ).toEqual([
    '2026-11-14T20:04:00.000Z',
    '2026-11-15T19:49:00.000Z',
    '2026-11-08T20:04:00.000Z',
    undefined,
    undefined,
    '2026-11-01T00:00:00Z',
  ]);
});

test('a machine that is behind says in what', () => {
  const one = { machine: 'm', host: 'h', ring: 'r', last_seen: '2026-11-15T19:54:00Z' };
  expect(behindText({ ...one, silent: true, records: 1200, policy: 0, ring_policy: 3 }, NOW)).toBe(
    'last message 10 min ago, no policy of 3, 1,200 records not witnessed',
  );
  expect(behindText({ ...one, silent: false, records: 0, policy: 2, ring_policy: 3 }, NOW)).toBe(
    'policy 2 of 3',
  );
});

test('coverage counts the machines of each harness and names the other states', () => {
  const row = (harness: string, state: string, guarded: boolean, machines: number) => ({
    harness,
    state,
    guarded,
    machines,
  });
  const rows = [
    row('codex', 'guarded', true, 7),
    row('codex', 'not wired', false, 2),
    row('pi', 'broken', false, 1),
  ];
  expect(coverageOf(rows)).toEqual([
    { harness: 'codex', guarded: 7, machines: 9, others: '2 not wired' },
    { harness: 'pi', guarded: 0, machines: 1, others: '1 broken' },
  ]);
});

test('the stage of a rollout says what is in force', () => {
  const rollout = {
    ring: 'early',
    version: 3,
    stage: 'stopped' as const,
    previous_version: 2,
    max_newly_denied: 2,
    reason: 'it would deny 4 of 40 calls in addition',
    changed_by: 'server',
    changed: '2026-11-15T20:00:00Z',
  };
  expect(stageText(rollout)).toBe(
    'Stopped by the server: it would deny 4 of 40 calls in addition. In force: version 2.',
  );
  expect(stageText({ ...rollout, stage: 'candidate', previous_version: null, reason: null })).toBe(
    'Machines replay version 3; no version is in force until all have reported.',
  );
  expect(replayPercent({ newly_denied: 4, calls: 40 } as never)).toBe(10);
  expect(replayPercent({ newly_denied: 0, calls: 0 } as never)).toBe(0);
});
