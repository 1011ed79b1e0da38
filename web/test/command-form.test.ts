// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { formOfCommand, hasCondition, isAdvanced } from '../src/pages/rules/command-form';
import { EMPTY } from '../src/pages/rules/rule-form';

const words = (...texts: string[]) => texts.map((text) => ({ text }));

test('a command fills in its program, its first argument, and an example', () => {
  const facts = { commands: [{ program: 'docker', words: words('run', '-v', '/:/host', 'alpine') }] };
  expect(formOfCommand('docker run -v /:/host alpine', facts)).toEqual({
    id: 'no-docker-run',
    program: 'docker',
    words: 'run',
    deny: 'docker run -v /:/host alpine',
  });
});

test('the program that another one starts counts', () => {
  const facts = {
    commands: [
      { program: 'sudo', words: words('kubectl', 'delete', 'x') },
      { program: 'kubectl', words: words('delete', 'x'), via: ['sudo'] },
    ],
  };
  expect(formOfCommand('sudo kubectl delete x', facts)).toMatchObject({
    program: 'kubectl',
    words: 'delete',
  });
});

test('a form without a condition is not finished', () => {
  expect(hasCondition({ ...EMPTY, id: 'x', reason: 'y' })).toBe(false);
  expect(hasCondition({ ...EMPTY, program: 'docker' })).toBe(true);
  expect(isAdvanced({ ...EMPTY })).toBe(false);
  expect(isAdvanced({ ...EMPTY, when: 'true' })).toBe(true);
});
