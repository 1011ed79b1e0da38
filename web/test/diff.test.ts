// SPDX-License-Identifier: Apache-2.0 OR MIT

import { describe, expect, test } from 'vitest';
import { changes, diff, patch } from '../src/lib/diff';

const shown = (before: string, after: string) =>
  diff(before, after).map(({ kind, text }) => `${{ same: ' ', old: '-', new: '+', gap: '~' }[kind]}${text}`);

describe('diff', () => {
  test('finds the lines that differ', () => {
    expect(shown('a\nb\nc\n', 'a\nx\nc\n')).toEqual([' a', '-b', '+x', ' c']);
    expect(shown('', 'a\nb')).toEqual(['+a', '+b']);
    expect(shown('a\nb', '')).toEqual(['-a', '-b']);
    expect(shown('a', 'a')).toEqual(['~1 unchanged lines']);
  });

  test('finds the shortest diff', () => {
    expect(changes(diff('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc'))).toEqual({ added: 2, removed: 3 });
  });

  test('folds long unchanged parts', () => {
    const many = Array.from({ length: 50 }, (_, at) => `line ${at}`);
    const lines = diff(many.join('\n'), many.with(25, 'other').join('\n'));
    expect(lines.map((line) => line.kind)).toEqual([
      'gap',
      'same',
      'same',
      'same',
      'old',
      'new',
      'same',
      'same',
      'same',
      'gap',
    ]);
    expect(lines[0]?.text).toBe('22 unchanged lines');
  });

  test('both texts can be restored from any diff', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let round = 0; round < 200; round += 1) {
      const text = () => Array.from({ length: 1 + random(30) }, () => 'abcd'[random(4)]).join('\n');
      const [before, after] = [text(), text()];
      const lines = diff(before, after, 1000);
      const of = (...kinds: string[]) =>
        lines.filter((line) => kinds.includes(line.kind)).map((line) => line.text);
      if (before !== after) {
        expect(of('same', 'old').join('\n')).toBe(before);
        expect(of('same', 'new').join('\n')).toBe(after);
      }
    }
  });

  test('stops searching for the shortest diff in time', () => {
    const lines = (sign: string) => Array.from({ length: 5000 }, (_, at) => `${sign}${at}`).join('\n');
    expect(changes(diff(lines('a'), lines('b')))).toEqual({ added: 5000, removed: 5000 });
  });
});

test('a unified diff is parsed with its line numbers', () => {
  expect(patch('@@ -3,3 +3,4 @@ total\n same\n-old\n+new\n+more\n\\ No newline at end of file\n')).toEqual([
    { kind: 'gap', text: 'total' },
    { kind: 'same', text: 'same', before: 3, after: 3 },
    { kind: 'old', text: 'old', before: 4, after: undefined },
    { kind: 'new', text: 'new', before: undefined, after: 4 },
    { kind: 'new', text: 'more', before: undefined, after: 5 },
    { kind: 'gap', text: 'No newline at end of file' },
  ]);
});
