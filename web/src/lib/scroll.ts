// SPDX-License-Identifier: Apache-2.0 OR MIT

// Scroll positions of tables that are higher than browsers support.

/** Maximum height of an element: some browsers draw nothing beyond about 17 million pixels. */
export const HIGHEST = 12_000_000;

export interface Extent {
  count: number;
  row: number;
  view: number;
}

/** Height of all rows, and height of the scrolled element. */
export function heights({ count, row }: Extent): { total: number; space: number } {
  const total = count * row;
  return { total, space: Math.min(total, HIGHEST) };
}

/** Pixels of rows per pixel of the scroll bar. */
export function ratio(extent: Extent): number {
  const { total, space } = heights(extent);
  return total > space && space > extent.view ? (total - extent.view) / (space - extent.view) : 1;
}

/** First and last visible row, extended by `more` rows on each side. */
export function seen(
  top: number,
  { count, row, view }: Extent,
  more: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / row) - more);
  const last = Math.min(count - 1, Math.floor((top + view) / row) + more);
  return { first, last };
}

/** The nearest scroll position at which a row is visible. */
export function reveal(index: number, top: number, { row, view }: Extent): number {
  if (index * row < top) return index * row;
  if ((index + 1) * row > top + view) return (index + 1) * row - view;
  return top;
}
