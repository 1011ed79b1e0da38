// SPDX-License-Identifier: Apache-2.0 OR MIT

// Another policy: shown as a diff, tried, and through the gate.

import { call } from '../../lib/api/client';
import { ask } from '../../lib/confirm.svelte';
import { toasts } from '../../lib/toasts.svelte';
import { sentence, type Trial } from './backtest.svelte';

export interface Change {
  before: string;
  after: string;
  etag: string;
  path?: string;
}

/** Whether it was saved. */
export async function save(change: Change, trial: Trial): Promise<boolean> {
  const tried = await trial.run(change.after);
  const done = await ask({
    title: 'Save the policy',
    text: tried ? sentence(tried) : 'It could not be tried on what happened.',
    diff: { before: change.before, after: change.after, path: change.path ?? 'policy.yaml' },
    yes: 'Save',
    action: 'policy change',
    command: `tenterhook policy show   # names the file; edit it, then: tenterhook policy check`,
    run: (proof) =>
      call('putPolicy', { body: { text: change.after, proof }, headers: { 'If-Match': change.etag } }),
  });
  if (done) toasts.say('The policy is in force from the next event on', 'good');
  return done !== undefined;
}
