// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { BEGINNING, files } from '../src/pages/hooks/hook-form';

test('a constant answer is a file, and any input stays text', () => {
  const built = files({ ...BEGINNING, name: 'x', text: 'no "quotes"\nhooks: []', when: 'a == "b"' });
  expect(JSON.parse(built['answer.json'] ?? '')).toEqual({
    decision: 'deny',
    reason: 'no "quotes"\nhooks: []',
  });
  expect(built['hook.yaml']).toContain('    when: "a == \\"b\\""\n');
  expect(built['hook.yaml']).toContain('    exec: ["cat","{kit}/answer.json"]\n');
  expect(built['hook.yaml']?.match(/^hooks:/gm)).toHaveLength(1);
});

test('a command or an address needs no file', () => {
  expect(Object.keys(files({ ...BEGINNING, action: 'command', text: 'true' }))).toEqual(['hook.yaml']);
  expect(files({ ...BEGINNING, action: 'url', text: 'https://x' })['hook.yaml']).toContain(
    'url: "https://x"',
  );
});
