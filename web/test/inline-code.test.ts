// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { pieces } from '../src/lib/inline-code';

test('text in backticks is code', () => {
  expect(pieces('run `a b`, then `c`')).toEqual([
    { text: 'run ', code: false },
    { text: 'a b', code: true },
    { text: ', then ', code: false },
    { text: 'c', code: true },
  ]);
});

test('a backtick without a partner stays text', () => {
  expect(pieces('a ` b')).toEqual([{ text: 'a ` b', code: false }]);
  expect(pieces('`a` b `c')).toEqual([
    { text: 'a', code: true },
    { text: ' b `c', code: false },
  ]);
  expect(pieces('')).toEqual([]);
});
