// SPDX-License-Identifier: Apache-2.0 OR MIT

// Decision rates of the last hour as chart series.

import type { DecisionRate } from './api/types';

const MINUTE_MS = 60_000;

export interface Hour {
  /** Unix time in seconds of each minute, oldest first. */
  at: number[];
  all: number[];
  denied: number[];
  asked: number[];
  /** In microseconds; null for minutes without decisions. */
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

/** Every minute of the last hour, including empty ones. */
export function hour(pace: DecisionRate, now: number, minutes = 60): Hour {
  const known = new Map(pace.minutes.map((one) => [Math.floor(Date.parse(one.at) / MINUTE_MS), one]));
  const last = Math.floor(now / MINUTE_MS);
  const hour: Hour = { at: [], all: [], denied: [], asked: [], p50: [], p95: [], p99: [] };
  for (let minute = last - minutes + 1; minute <= last; minute += 1) {
    const one = known.get(minute);
    hour.at.push(minute * 60);
    hour.all.push(Object.values(one?.verdicts ?? {}).reduce((sum, count) => sum + count, 0));
    hour.denied.push(one?.verdicts.deny ?? 0);
    hour.asked.push(one?.verdicts.ask ?? 0);
    hour.p50.push(one?.p50_us ?? null);
    hour.p95.push(one?.p95_us ?? null);
    hour.p99.push(one?.p99_us ?? null);
  }
  return hour;
}

/** Estimates the number in the last sixty seconds from whole minutes. */
export function perMinute(counts: number[], now: number): number {
  const share = (now % MINUTE_MS) / MINUTE_MS;
  return Math.round((counts.at(-1) ?? 0) + (counts.at(-2) ?? 0) * (1 - share));
}
