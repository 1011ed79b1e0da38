// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import { decidedBy, deciderLink } from '../src/lib/decided-by';

test('the deciding rule, or else the first hook with the same decision', () => {
  const trace = [
    { by: 'hook:watch', decision: 'none' },
    { by: 'hook:guard', decision: 'deny' },
  ];
  expect(decidedBy({ verdict: 'deny', policy_rule_id: 'recursive-delete', trace })).toBe('recursive-delete');
  expect(decidedBy({ verdict: 'deny', trace })).toBe('hook:guard');
  expect(decidedBy({ verdict: 'none', trace })).toBeUndefined();
  expect(decidedBy({ verdict: 'deny' })).toBeUndefined();
});

test('hooks and rules link to their own pages', () => {
  expect(deciderLink('hook:guard')).toBe('#/hooks?hook=guard');
  expect(deciderLink('no-docker')).toBe('#/rules?rule=no-docker');
  expect(deciderLink('rule:no-docker')).toBe('#/rules?rule=no-docker');
});
