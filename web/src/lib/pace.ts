// SPDX-License-Identifier: Apache-2.0 OR MIT

// The last hour as series for charts. Pure.

import type { DecisionRate } from './api/types';

const MINUTE = 60_000;

export interface Hour {
  /** Seconds since 1970, one for each minute, oldest first. */
  at: number[];
  all: number[];
  denied: number[];
  asked: number[];
  /** In microseconds; null where nothing was decided. */
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

/** Every minute of the last hour, with the ones in which nothing happened. */
export function hour(pace: DecisionRate, now: number, minutes = 60): Hour {
  const known = new Map(pace.minutes.map((one) => [Math.floor(Date.parse(one.at) / MINUTE), one]));
  const last = Math.floor(now / MINUTE);
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

/** How many there were in the last sixty seconds, as near as whole minutes tell. */
export function perMinute(counts: number[], now: number): number {
  const share = (now % MINUTE) / MINUTE;
  return Math.round((counts.at(-1) ?? 0) + (counts.at(-2) ?? 0) * (1 - share));
}
