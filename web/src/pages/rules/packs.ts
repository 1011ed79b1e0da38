// SPDX-License-Identifier: Apache-2.0 OR MIT

// Enables and disables rule packs and rules. Disabling is a privileged action.

import { call } from '../../lib/api/client';
import type { RulePackList } from '../../lib/api/types';
import { ask } from '../../lib/confirm.svelte';
import { toasts } from '../../lib/toasts.svelte';

/** Returns the packs after the change; undefined if it was cancelled. */
export async function turn(name: string, on: boolean): Promise<RulePackList | undefined> {
  const done = await ask({
    title: on ? `Enable “${name}”` : `Disable “${name}”`,
    text: on
      ? 'It applies from the next event on.'
      : 'It no longer applies. To allow a single call and keep the rule, add an exception instead.',
    yes: on ? 'Enable' : 'Disable',
    danger: !on,
    action: on ? undefined : 'rules disable',
    command: `tenterhook rules disable ${name}`,
    run: (proof) => call('switchPack', { body: { name, on, proof } }),
  });
  if (done) toasts.say(`“${name}” is ${on ? 'enabled' : 'disabled'}`, 'good');
  return done;
}
