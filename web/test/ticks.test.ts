// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { micros, short } from '../src/lib/format';
import { TICK_STEPS, tickLabels } from '../src/lib/ticks';

test('ticks are integers apart, and every multiple has its own label', () => {
  expect(TICK_STEPS.every(Number.isInteger)).toBe(true);
  for (const step of TICK_STEPS) {
    const ticks = [0, 1, 2, 3, 4, 5].map((times) => times * step);
    for (const format of [short, micros]) {
      expect(new Set(tickLabels(ticks, format)).size, `${step}`).toBe(ticks.length);
    }
  }
});

test('ticks with the same text get one label', () => {
  expect(tickLabels([0, 0.5, 1], short)).toEqual(['0', '1', '']);
});
