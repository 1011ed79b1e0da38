// SPDX-License-Identifier: Apache-2.0 OR MIT

// Activity as chart series.

import type { Activity } from './api/types';

export interface ActivitySeries {
  /** Unix time in seconds of each bucket, oldest first, including empty ones. */
  at: number[];
  all: number[];
  asked: number[];
  denied: number[];
  /** In microseconds; null for buckets without decisions. */
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

/** Maximum number of points, for a range with an absurd number of buckets. */
const MAX_POINTS = 500;

export function activitySeries(activity: Activity): ActivitySeries {
  const start = Date.parse(activity.from);
  const known = new Map(
    activity.buckets.map((one) => [Math.round((Date.parse(one.at) - start) / activity.bucket_ms), one]),
  );
  const series: ActivitySeries = { at: [], all: [], asked: [], denied: [], p50: [], p95: [], p99: [] };
  const last = Math.floor((Date.parse(activity.until) - start) / activity.bucket_ms);
  for (let slot = 0; slot <= Math.min(last, MAX_POINTS); slot += 1) {
    const one = known.get(slot);
    series.at.push((start + slot * activity.bucket_ms) / 1000);
    series.all.push(one?.counts.all ?? 0);
    series.asked.push(one?.counts.asked ?? 0);
    series.denied.push(one?.counts.denied ?? 0);
    series.p50.push(one?.decision_time?.p50_us ?? null);
    series.p95.push(one?.decision_time?.p95_us ?? null);
    series.p99.push(one?.decision_time?.p99_us ?? null);
  }
  return series;
}

/** `per minute`, `per 15 s`: the duration of a bucket in a title. */
export function bucketLabel(ms: number): string {
  const names: [number, string][] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
  ];
  const [size, name] = names.find(([size]) => ms >= size) ?? [1000, 'second'];
  const count = Math.round(ms / size);
  return count === 1 ? `per ${name}` : `per ${count} ${name}s`;
}
