// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { HIGHEST, heights, ratio, reveal, seen } from '../src/lib/scroll';

test('few rows are not scaled', () => {
  const extent = { count: 100, row: 30, view: 600 };
  expect(heights(extent)).toEqual({ total: 3000, space: 3000 });
  expect(ratio(extent)).toBe(1);
  expect(seen(300, extent, 2)).toEqual({ first: 8, last: 32 });
  expect(seen(0, { ...extent, count: 0 }, 2)).toEqual({ first: 0, last: -1 });
});

test('a million rows fit a scroll bar, to the last one', () => {
  const extent = { count: 1_000_000, row: 30, view: 600 };
  expect(heights(extent).space).toBe(HIGHEST);
  const bottom = (HIGHEST - extent.view) * ratio(extent);
  expect(seen(bottom, extent, 0).last).toBe(999_999);
});

test('a row is brought into view by the shortest move', () => {
  const extent = { count: 100, row: 30, view: 600 };
  expect(reveal(5, 300, extent)).toBe(150);
  expect(reveal(15, 300, extent)).toBe(300);
  expect(reveal(40, 300, extent)).toBe(630);
});
