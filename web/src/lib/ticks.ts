// SPDX-License-Identifier: Apache-2.0 OR MIT

// Labels of a chart's value axis.

/** Steps between ticks: integers, because counts and microseconds have no fractions. */
export const TICK_STEPS: number[] = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Formats tick labels. Equal labels are shown once. */
export function tickLabels(ticks: number[], format: (value: number) => string): string[] {
  const labels = ticks.map(format);
  return labels.map((label, at) => (labels.indexOf(label) === at ? label : ''));
}
