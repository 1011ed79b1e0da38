// SPDX-License-Identifier: Apache-2.0 OR MIT

// What the pages of a fleet say about machines and alerts, and their charts.

import type { FleetMachine, HourlyCount } from './fleet-api';

/** A machine that sent nothing for this long is not online, in milliseconds. */
const ONLINE_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;
/** Minimum number of hours in a chart. */
const MIN_HOURS = 12;

export type MachineState = 'online' | 'offline' | 'left';

export function stateOf(machine: FleetMachine, now: number): MachineState {
  if (machine.left) return 'left';
  return now - Date.parse(machine.last_seen) < ONLINE_MS ? 'online' : 'offline';
}

/** Harnesses of a machine without a guard. */
export const unguardedOf = (machine: FleetMachine): string[] =>
  (machine.status?.harnesses ?? []).filter((one) => !one.guarded).map((one) => one.harness);

const ALERTS: Record<string, string> = {
  'history-rewritten': 'The ledger of this machine does not continue what the server has stored.',
  'machine-key-cloned': 'Two copies of this machine use one key.',
  'machine-silent': 'This machine has sent nothing for too long.',
  'evidence-refused': 'This machine sent a batch that is not valid.',
  'policy-refused': 'This machine refused a policy bundle.',
};

export const alertText = (kind: string): string => ALERTS[kind] ?? kind;

export interface HourlySeries {
  at: number[];
  all: number[];
  asked: number[];
  denied: number[];
}

/** Counts per hour, oldest first, from the first hour with calls on, and of half a day at least. */
export function hourlySeries(counts: HourlyCount[], now: number): HourlySeries {
  const series: HourlySeries = { at: [], all: [], asked: [], denied: [] };
  const first = Math.min(...counts.map((one) => Date.parse(one.hour)));
  if (!Number.isFinite(first)) return series;
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  for (let hour = Math.min(first, last - (MIN_HOURS - 1) * HOUR_MS); hour <= now; hour += HOUR_MS) {
    const here = counts.filter((one) => Date.parse(one.hour) === hour);
    const sum = (of: (one: HourlyCount) => boolean) =>
      here.filter(of).reduce((total, one) => total + one.calls, 0);
    series.at.push(hour / 1000);
    series.all.push(sum(() => true));
    series.asked.push(sum((one) => one.verdict === 'ask'));
    series.denied.push(sum((one) => one.verdict === 'deny'));
  }
  return series;
}
