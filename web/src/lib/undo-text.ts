// SPDX-License-Identifier: Apache-2.0 OR MIT

// Texts about saved calls and their restore.

import type { RestorePreview, RestoreResult, RestoreStep } from './api/types';
import { below, bytes, count } from './format';

/** Reason of a snapshot that a restore took of what it replaced. */
export const RESTORE_REASON = 'restore';

/** 1 item, 2 items */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** What a snapshot contains: `2 paths, 1 git ref, 1.2 kB`. Files of git, such as the index, are among the paths. */
export function contentsText(snapshot: { entries: number; refs?: number; bytes: number }): string {
  const parts = [counted(snapshot.entries, 'path')];
  if (snapshot.refs) parts.push(counted(snapshot.refs, 'git ref'));
  return [...parts, bytes(snapshot.bytes)].join(', ');
}

/** Path of an item relative to the project, or the name of a git ref. */
export function itemName(item: RestoreStep, project: string): string {
  return item.git_ref ?? below(item.path, project);
}

/** What a restore would do, by number of items. */
export function previewText(preview: RestorePreview): string {
  const { restorable, conflicts, unchanged } = preview;
  // Each item that differs and is neither of these is blocked.
  const blocked = preview.items.length + preview.more_items - restorable - conflicts;
  const parts: string[] = [];
  if (restorable > 0) parts.push(`${counted(restorable, 'item')} can be restored`);
  if (conflicts > 0)
    parts.push(`${counted(conflicts, 'item')} ${conflicts === 1 ? 'was' : 'were'} changed after the call`);
  if (blocked > 0) parts.push(`${counted(blocked, 'item')} cannot be restored`);
  if (parts.length === 0) return 'Everything is as it was before the call.';
  if (unchanged > 0) parts.push(`${counted(unchanged, 'item')} ${unchanged === 1 ? 'is' : 'are'} unchanged`);
  return `${parts.join(', ')}.`;
}

/** Items that a restore creates or replaces. Newer work is among them only with `force`. */
export function affectedItems(preview: RestorePreview, force: boolean): RestoreStep[] {
  return preview.items.filter(
    ({ action }) => action === 'create' || action === 'replace' || (force && action === 'conflict'),
  );
}

/** Number of these items, also if the list is cut. */
export function affectedCount(preview: RestorePreview, force: boolean): number {
  return preview.restorable + (force ? preview.conflicts : 0);
}

/** What a restore did. */
export function resultText(result: RestoreResult): string {
  const left = result.left.length + result.more_left;
  const done = `Restored ${counted(result.restored, 'item')}`;
  return left > 0 ? `${done}; ${counted(left, 'item')} left unchanged.` : `${done}.`;
}
