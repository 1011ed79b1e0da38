// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { parseSearch, type SearchKey, suggest } from '../src/lib/search';

const KEYS: SearchKey[] = [
  {
    key: 'verdict',
    title: 'Decision',
    values: [
      ['deny', 12],
      ['ask', 3],
    ],
  },
  {
    key: 'tool',
    title: 'Tool',
    values: [
      ['Bash', 40],
      ['Web Fetch', 2],
    ],
  },
];
const names = KEYS.map(({ key }) => key);

test('a term with a known key becomes a filter, and the rest is text', () => {
  expect(parseSearch('verdict:deny rm -rf tool:Bash', names)).toEqual({
    terms: { verdict: 'deny', tool: 'Bash' },
    text: 'rm -rf',
  });
  expect(parseSearch('tool:"Web Fetch" x', names)).toEqual({ terms: { tool: 'Web Fetch' }, text: 'x' });
});

test('an unknown key stays text, so that a URL can be searched', () => {
  expect(parseSearch('https://example.com:8080/a', names)).toEqual({
    terms: {},
    text: 'https://example.com:8080/a',
  });
});

test('values are suggested with their counts, after a key or for a word', () => {
  expect(suggest('verdict:', KEYS).map(({ term, count }) => [term, count])).toEqual([
    ['verdict:deny', 12],
    ['verdict:ask', 3],
  ]);
  expect(suggest('rm tool:we', KEYS)).toEqual([
    { term: 'tool:"Web Fetch"', title: 'Tool: Web Fetch', count: 2 },
  ]);
  expect(suggest('bas', KEYS).map(({ term }) => term)).toEqual(['tool:Bash']);
  expect(suggest('denied', KEYS).map(({ term }) => term)).toEqual(['verdict:deny']);
  expect(suggest('', KEYS).map(({ term }) => term)).toEqual(['verdict:', 'tool:']);
  expect(suggest('nope:x', KEYS)).toEqual([]);
});
