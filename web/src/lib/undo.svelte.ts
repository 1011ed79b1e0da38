// SPDX-License-Identifier: Apache-2.0 OR MIT

// Restores what saved calls lost, after a confirmation.

import { call } from './api/client';
import type { RestorePreview, RestoreResult } from './api/types';
import { ask } from './confirm.svelte';
import { affectedCount, affectedItems, counted, itemName } from './undo-text';

class Restores {
  /** Number of restores from this page. Views of files and snapshots reload when it changes. */
  count = $state(0);
}

export const restores = new Restores();

const SAVED_FIRST = 'What the restore replaces is saved in another snapshot first.';

/** Asks, and then restores. Replacing newer work needs a code. Returns undefined if the user cancels. */
export async function restore(preview: RestorePreview, force: boolean): Promise<RestoreResult | undefined> {
  const { id, project } = preview.snapshot;
  const items = affectedItems(preview, force);
  const number = affectedCount(preview, force);
  const newer = counted(preview.conflicts, 'item');
  const done = await ask({
    title: force ? 'Replace newer work' : `Restore ${counted(number, 'item')}`,
    text: force
      ? `${newer} of ${number} ${preview.conflicts === 1 ? 'was' : 'were'} changed after the call. ${SAVED_FIRST}`
      : SAVED_FIRST,
    items: items.map((item) => ({ name: itemName(item, project), note: NOTES[item.action] })),
    more: number - items.length,
    yes: force ? 'Replace' : 'Restore',
    danger: force,
    action: force ? 'undo force' : undefined,
    command: `tenterhook undo ${id} --force`,
    run: (proof) => call('restoreSnapshot', { path: { id }, body: force ? { force, proof } : { force } }),
  });
  if (done) restores.count += 1;
  return done;
}

/** What a restore does with an item. */
export const NOTES = {
  create: 'created again',
  replace: 'replaced',
  conflict: 'newer work',
  blocked: 'cannot be restored',
} as const;
