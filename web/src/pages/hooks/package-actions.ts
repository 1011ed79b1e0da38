// SPDX-License-Identifier: Apache-2.0 OR MIT

// Actions on hook packages. All of them are privileged.

import { call } from '../../lib/api/client';
import type { HookPackage, HookPackageList } from '../../lib/api/types';
import { ask } from '../../lib/confirm.svelte';
import { toasts } from '../../lib/toasts.svelte';

const written = (files: Record<string, string>) =>
  Object.entries(files)
    .map(([name, text]) => `# ${name}\n${text}`)
    .join('\n');

/** Writes a hook package and trusts it. */
export async function put(
  name: string,
  what: { files: Record<string, string> } | { template: string },
  shown: Record<string, string>,
): Promise<HookPackageList | undefined> {
  const done = await ask({
    title: `Save and trust “${name}”`,
    text: 'The hook runs from the next event on, as long as its files do not change.',
    diff: { before: '', after: written(shown), path: `hooks/${name}/` },
    yes: 'Save and trust',
    action: 'hooks trust',
    command:
      'template' in what
        ? `tenterhook hooks new --from ${what.template} --name ${name} && tenterhook hooks trust ${name}`
        : `tenterhook hooks trust ${name}`,
    run: (proof) => call('putKit', { path: { name }, body: { ...what, proof } }),
  });
  if (done) toasts.say(`“${name}” is active from the next event on`, 'good');
  return done;
}

export function trust(kit: HookPackage): Promise<HookPackageList | undefined> {
  return ask({
    title: `Trust “${kit.name}”`,
    text: `From ${kit.from}${kit.commit ? `, at ${kit.commit}` : ''}.`,
    diff: { before: '', after: written(kit.files), path: kit.folder },
    yes: 'Trust',
    action: 'hooks trust',
    command: `tenterhook hooks trust ${kit.name}`,
    run: (proof) => call('trustKit', { path: { name: kit.name }, body: { proof } }),
  });
}

export function remove(kit: HookPackage): Promise<HookPackageList | undefined> {
  return ask({
    title: `Remove “${kit.name}”`,
    text: 'The package is deleted, and its hooks no longer run.',
    yes: 'Remove',
    danger: true,
    action: 'hooks remove',
    command: `tenterhook hooks remove ${kit.name}`,
    run: (proof) => call('removeKit', { path: { name: kit.name }, body: { proof } }),
  });
}
