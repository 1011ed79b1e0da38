// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { EMPTY, toForm, toRule } from '../src/pages/rules/rule-form';

/** The rule as the daemon reads it, without empty values. */
const sent = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_key, one) =>
      one === '' || (Array.isArray(one) && one.length === 0) ? undefined : one,
    ),
  );

test('a rule survives a round trip through its form', () => {
  const rules = [
    {
      id: 'no-docker',
      description: 'no: containers',
      severity: 'high',
      match: { shell: { program: ['docker', 'podman'], words: ['run'] } },
      verdict: 'deny',
      reason: 'no',
      nudge: 'ask',
      examples: {
        deny: ['docker run x', { tool: 'Bash', args: { command: 'docker run y' } }],
        allow: ['docker ps'],
      },
    },
    {
      id: 'allow-shell-7',
      severity: 'medium',
      match: { tool: ['shell'], regex: { command: ['\\Ax, y\\z'] } },
      when: 'event.cwd == "/w"',
      verdict: 'allow',
      overrides: ['a', 'b'],
    },
    {
      id: 'kept',
      severity: 'low',
      label: ['seen'],
      match: { any: [{ tool: 'x' }], effect: { does: ['delete'], path: ['~/**'], recursive: true } },
      verdict: 'ask',
      limit: { count: 3, window: '10m', of: 'all' },
    },
  ];
  for (const rule of rules) expect(sent(toRule(toForm(rule)))).toEqual(rule);
});

test('an empty form is a rule without conditions', () => {
  expect(sent(toRule(EMPTY))).toEqual({ match: {}, severity: 'medium', verdict: 'deny' });
});
