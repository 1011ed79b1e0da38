// SPDX-License-Identifier: Apache-2.0 OR MIT

// What the pages of a fleet say about machines and alerts, and their charts.

import { ago, count } from '../lib/format';
import type { Tone } from '../parts/Badge.svelte';
import type {
  FleetMachine,
  FleetOverview,
  FleetRollout,
  HourlyCount,
  MachineBehind,
  RolloutStageName,
} from './fleet-api';

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
  'rollout-stopped': 'A policy would deny too many calls, so its rollout stopped.',
};

export const alertText = (kind: string): string => ALERTS[kind] ?? kind;

export interface HourlySeries {
  at: number[];
  all: number[];
  asked: number[];
  denied: number[];
}

/** Counts per hour, oldest first, from the first hour with calls to the next hour, and of half a day at least. */
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
  // The bar of the present hour is drawn around its start, so the chart goes on for another hour.
  series.at.push((series.at.at(-1) ?? 0) + HOUR_MS / 1000);
  for (const list of [series.all, series.asked, series.denied]) list.push(0);
  return series;
}

/** The command that shows a waiting call on the approver's computer. */
export const approveCommand = (approval: string) =>
  `tenterhook fleet approve ${approval.slice(-8)} --sign YOUR.key`;

/** A waiting call, as far as it can be read. */
export interface WaitingCall {
  wants: string;
  source?: string;
  tool?: string;
  user?: string;
  cwd?: string;
  args?: unknown;
  reasons: { by: string; said: string }[];
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Reads the call of an approval, which comes from a machine. */
export function readCall(text: string): WaitingCall | undefined {
  let call: Record<string, unknown>;
  try {
    call = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof call !== 'object' || call === null) return undefined;
  const reasons = Array.isArray(call.reasons) ? (call.reasons as Record<string, unknown>[]) : [];
  return {
    wants: asText(call.wants) ?? '',
    source: asText(call.source),
    tool: asText(call.tool),
    user: asText(call.user),
    cwd: asText(call.cwd),
    args: call.args,
    reasons: reasons.map((one) => ({
      by: typeof one?.by === 'string' ? one.by : JSON.stringify(one?.by ?? ''),
      said: asText(one?.said) ?? '',
    })),
  };
}

// Characters that a browser hides or reorders, such as bidirectional marks.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Shows hidden characters as their codes. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);

const DURATIONS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A start such as `24h` or a time, as a time; undefined for `all`. */
export function startTime(since: string | undefined, now: number): string | undefined {
  if (!since || since === 'all') return undefined;
  const [, number, unit] = /^(\d+)([mhd])$/.exec(since) ?? [];
  const length = Number(number) * (DURATIONS[unit ?? ''] ?? Number.NaN);
  return Number.isFinite(length) ? new Date(now - length).toISOString() : since;
}

/** Why a machine is behind. */
export function behindText(machine: MachineBehind, now: number): string {
  const reasons = [];
  if (machine.silent) reasons.push(`last message ${ago(machine.last_seen, now)}`);
  if (machine.policy < machine.ring_policy)
    reasons.push(
      `${machine.policy > 0 ? `policy ${machine.policy}` : 'no policy'} of ${machine.ring_policy}`,
    );
  if (machine.records > 0) reasons.push(`${count(machine.records)} records not witnessed`);
  return reasons.join(', ');
}

/** Coverage of one harness: guarded machines, and the states on the others. */
export interface Coverage {
  harness: string;
  guarded: number;
  machines: number;
  others: string;
}

export function coverageOf(rows: FleetOverview['harnesses']): Coverage[] {
  const found = new Map<string, Coverage>();
  for (const row of rows) {
    const one = found.get(row.harness) ?? { harness: row.harness, guarded: 0, machines: 0, others: '' };
    one.machines += row.machines;
    if (row.guarded) one.guarded += row.machines;
    else one.others += `${one.others ? ', ' : ''}${row.machines} ${row.state}`;
    found.set(row.harness, one);
  }
  return [...found.values()];
}

/** Colours of the stages of a rollout. */
export const STAGE_TONES: Record<RolloutStageName, Tone> = {
  candidate: 'info',
  active: 'good',
  halted: 'warn',
  stopped: 'bad',
};

/** What the stage of a ring means. */
export function stageText(rollout: FleetRollout['rollout']): string {
  const before = rollout.previous_version === null ? 'no version' : `version ${rollout.previous_version}`;
  switch (rollout.stage) {
    case 'candidate':
      return `Machines replay version ${rollout.version}; ${before} is in force until all have reported.`;
    case 'active':
      return `In force${rollout.reason ? `: ${rollout.reason}` : ', without a replay'}.`;
    case 'stopped':
      return `Stopped by the server: ${rollout.reason ?? 'it would deny too many calls'}. In force: ${before}.`;
    default:
      return `Halted${rollout.reason ? `: ${rollout.reason}` : ''}. Offered: ${before}.`;
  }
}

/** Percentage of replayed calls that a candidate denies in addition. */
export const replayPercent = ({ newly_denied, calls }: FleetRollout['replay']): number =>
  calls > 0 ? (newly_denied * 100) / calls : 0;
