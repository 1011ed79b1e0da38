// SPDX-License-Identifier: Apache-2.0 OR MIT

// Positions of steps on a time axis. Idle time between steps is shortened, so that work stays visible.

import type { Row } from './timeline';

/** Longest idle time between two steps that is shown in full, in milliseconds. */
const MAX_IDLE_MS = 5000;

export interface Span {
  /** Start and length as shares of the axis, from 0 to 1. */
  start: number;
  length: number;
  /** Duration of the step in milliseconds; undefined if it is unknown. */
  ms?: number;
}

/** Duration of a call: the tool's own time, or the time between its two events. */
export function durationOf(row: Row): number | undefined {
  if (typeof row.result?.ran_ms === 'number') return row.result.ran_ms;
  if (!row.result?.ts || !row.step.ts) return undefined;
  return Math.max(0, Date.parse(row.result.ts) - Date.parse(row.step.ts));
}

/** A span for each row, by the number of its step. */
export function spans(rows: Row[]): Map<number, Span> {
  const timed = rows
    .flatMap((row) =>
      row.step.ts ? [{ seq: row.step.seq, at: Date.parse(row.step.ts), ms: durationOf(row) }] : [],
    )
    .sort((a, b) => a.at - b.at);
  let [busyUntil, shift] = [timed[0]?.at ?? 0, 0];
  const origin = busyUntil;
  const placed = timed.map(({ seq, at, ms }) => {
    const idle = at - busyUntil;
    if (idle > MAX_IDLE_MS) shift += idle - MAX_IDLE_MS;
    busyUntil = Math.max(busyUntil, at + (ms ?? 0));
    return { seq, start: at - origin - shift, ms };
  });
  const whole = Math.max(1, ...placed.map(({ start, ms }) => start + (ms ?? 0)));
  return new Map(
    placed.map(({ seq, start, ms }) => [seq, { start: start / whole, length: (ms ?? 0) / whole, ms }]),
  );
}
