// SPDX-License-Identifier: Apache-2.0 OR MIT

// RulePackList and rules on and off: off is for people.

import { call } from '../../lib/api/client';
import type { RulePackList } from '../../lib/api/types';
import { ask } from '../../lib/confirm.svelte';
import { toasts } from '../../lib/toasts.svelte';

/** How the packs stand afterwards; nothing if nothing was done. */
export async function turn(name: string, on: boolean): Promise<RulePackList | undefined> {
  const done = await ask({
    title: on ? `Turn “${name}” on` : `Turn “${name}” off`,
    text: on
      ? 'More is checked from the next event on.'
      : 'What it looks for is not looked for any more. To allow one thing and keep the rule, write an exception.',
    yes: on ? 'Turn on' : 'Turn off',
    danger: !on,
    action: on ? undefined : 'rules disable',
    command: `tenterhook rules disable ${name}`,
    run: (proof) => call('switchPack', { body: { name, on, proof } }),
  });
  if (done) toasts.say(`“${name}” is ${on ? 'on' : 'off'}`, 'good');
  return done;
}
