// SPDX-License-Identifier: Apache-2.0 OR MIT

// Formats numbers, times and paths.

/** 1,234,567 */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** 12.3k */
export function short(number: number): string {
  if (number < 1000) return String(Math.round(number));
  const [value, unit] =
    number < 1e6 ? [number / 1e3, 'k'] : number < 1e9 ? [number / 1e6, 'M'] : [number / 1e9, 'G'];
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** Microseconds: 83 µs, 1.2 ms, 3.4 s */
export function micros(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`;
  return millis(us / 1000);
}

/** Milliseconds: 12 ms, 3.4 s, 2 min 5 s */
export function millis(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1).replace(/\.0$/, '') : Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  return span(seconds);
}

/** Seconds as the two largest units. */
export function span(seconds: number): string {
  const units: [number, string][] = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const at = units.findIndex(([size]) => seconds >= size);
  if (at < 0) return '0 s';
  const [size, unit] = units[at] ?? [1, 's'];
  const first = Math.floor(seconds / size);
  const next = units[at + 1];
  const second = next ? Math.floor((seconds - first * size) / next[0]) : 0;
  return second > 0 && next ? `${first} ${unit} ${second} ${next[1]}` : `${first} ${unit}`;
}

/** Time since a moment: `5 min ago` */
export function ago(when: string | number, now = Date.now()): string {
  const seconds = Math.max(0, (now - new Date(when).getTime()) / 1000);
  if (seconds < 5) return 'now';
  const [size, unit] =
    seconds < 60 ? [1, 's'] : seconds < 3600 ? [60, 'min'] : seconds < 86400 ? [3600, 'h'] : [86400, 'd'];
  return `${Math.floor(seconds / Number(size))} ${unit} ago`;
}

const two = (number: number) => String(number).padStart(2, '0');

/** 14:03:09 in local time */
export function clock(when: string | number): string {
  const at = new Date(when);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** 2026-11-15 14:03:09 in local time */
export function moment(when: string | number): string {
  const at = new Date(when);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(when)}`;
}

/** 1.2 MB */
export function bytes(number: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = number;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** $0.0123, $1.20 */
export function dollars(number: number): string {
  return `$${number.toFixed(number < 1 ? 4 : 2)}`;
}

/** Splits a path into directory and name. */
export function split(path: string): { dir: string; name: string } {
  const at = path.lastIndexOf('/');
  return at < 0 ? { dir: '', name: path } : { dir: path.slice(0, at + 1), name: path.slice(at + 1) };
}

/** Path relative to a directory, if it is below it. */
export function below(path: string, dir: string | null | undefined): string {
  return dir && path.startsWith(`${dir.replace(/\/$/, '')}/`)
    ? path.slice(dir.replace(/\/$/, '').length + 1)
    : path;
}

/** Percentile of sorted numbers: percentile(list, 0.95). */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
