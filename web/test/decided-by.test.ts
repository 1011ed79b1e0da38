// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { decidedBy, deciderLink } from '../src/lib/decided-by';

test('a rule decided, or else the first hook that said the same', () => {
  const trace = [
    { by: 'hook:watch', decision: 'none' },
    { by: 'hook:guard', decision: 'deny' },
  ];
  expect(decidedBy({ verdict: 'deny', policy_rule_id: 'recursive-delete', trace })).toBe('recursive-delete');
  expect(decidedBy({ verdict: 'deny', trace })).toBe('hook:guard');
  expect(decidedBy({ verdict: 'none', trace })).toBeUndefined();
  expect(decidedBy({ verdict: 'deny' })).toBeUndefined();
});

test('a hook leads to its page, a rule to its own', () => {
  expect(deciderLink('hook:guard')).toBe('#/hooks?hook=guard');
  expect(deciderLink('no-docker')).toBe('#/rules?rule=no-docker');
  expect(deciderLink('rule:no-docker')).toBe('#/rules?rule=no-docker');
});
