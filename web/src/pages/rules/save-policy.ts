// SPDX-License-Identifier: Apache-2.0 OR MIT

// Saves a policy after showing a diff and a backtest. Saving is a privileged action.

import { call } from '../../lib/api/client';
import { ask } from '../../lib/confirm.svelte';
import { toasts } from '../../lib/toasts.svelte';
import { type Backtest, sentence } from './backtest.svelte';

export interface Change {
  before: string;
  after: string;
  etag: string;
  path?: string;
}

/** Returns whether the policy was saved. */
export async function save(change: Change, backtest: Backtest): Promise<boolean> {
  const tried = await backtest.run(change.after);
  const done = await ask({
    title: 'Save the policy',
    text: tried ? sentence(tried) : 'The backtest failed.',
    diff: { before: change.before, after: change.after, path: change.path ?? 'policy.yaml' },
    yes: 'Save',
    action: 'policy change',
    command: `tenterhook rules list --active   # names the file; edit it, then: tenterhook check`,
    run: (proof) =>
      call('putPolicy', { body: { text: change.after, proof }, headers: { 'If-Match': change.etag } }),
  });
  if (done) toasts.say('The policy is active from the next event on', 'good');
  return done !== undefined;
}
