// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { Parser } from '../src/lib/api/sse';

test('events are complete for every split of the stream', () => {
  const stream =
    ': hello\n\nevent: decided\nid: 7\ndata: {"a":1}\n\ndata: one\r\ndata: two\r\n\r\nevent: rest';
  const told = [
    { event: 'decided', id: '7', data: '{"a":1}' },
    { event: 'message', id: undefined, data: 'one\ntwo' },
  ];
  expect(new Parser().push(stream)).toEqual(told);
  for (const size of [1, 2, 5, 13]) {
    const parser = new Parser();
    const pieces = stream.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(told);
  }
});
