// SPDX-License-Identifier: Apache-2.0 OR MIT

// Where rows are when there are more than a browser can make high. Pure.

/** No element is made higher: beyond about 17 million pixels some browsers draw nothing. */
export const HIGHEST = 12_000_000;

export interface Extent {
  count: number;
  row: number;
  view: number;
}

/** How high all rows are, and how high the element that stands for them is. */
export function heights({ count, row }: Extent): { total: number; space: number } {
  const total = count * row;
  return { total, space: Math.min(total, HIGHEST) };
}

/** How many pixels of rows one pixel of the scroll bar stands for. */
export function ratio(extent: Extent): number {
  const { total, space } = heights(extent);
  return total > space && space > extent.view ? (total - extent.view) / (space - extent.view) : 1;
}

/** The rows that are seen at a place, both included, with some more on either side. */
export function seen(
  top: number,
  { count, row, view }: Extent,
  more: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / row) - more);
  const last = Math.min(count - 1, Math.floor((top + view) / row) + more);
  return { first, last };
}

/** The place at which a row can be seen, as near as possible to where we are. */
export function reveal(index: number, top: number, { row, view }: Extent): number {
  if (index * row < top) return index * row;
  if ((index + 1) * row > top + view) return (index + 1) * row - view;
  return top;
}
