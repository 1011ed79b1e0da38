// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test } from 'vitest';
import type { RestoreItemAction, RestorePreview, RestoreStep } from '../src/lib/api/types';
import {
  affectedCount,
  affectedItems,
  contentsText,
  itemName,
  previewText,
  resultText,
} from '../src/lib/undo-text';

const item = (action: RestoreItemAction, path: string, git_ref: string | null = null): RestoreStep => ({
  action,
  path,
  git_ref,
  reason: null,
});

const preview = (more: Partial<RestorePreview> = {}): RestorePreview => ({
  snapshot: {
    id: '1-1',
    taken: '2026-11-19T05:00:00Z',
    reason: 'git-discard',
    session: 's',
    event: 'e',
    project: '/home/dev/shop',
    replaced_question: true,
    entries: 2,
    refs: 0,
    bytes: 20,
    not_saved: 0,
  },
  items: [],
  more_items: 0,
  restorable: 0,
  conflicts: 0,
  unchanged: 0,
  ...more,
});

const mixed = preview({
  items: [
    item('create', '/home/dev/shop/a.txt'),
    item('conflict', '/home/dev/shop/b.txt'),
    item('blocked', '/home/dev/shop/c'),
    item('replace', '/home/dev/shop/.git', 'refs/heads/main'),
  ],
  restorable: 2,
  conflicts: 1,
  unchanged: 1200,
});

test('newer work is affected only with force, and blocked items never', () => {
  const names = (force: boolean) => affectedItems(mixed, force).map((one) => itemName(one, '/home/dev/shop'));
  expect(names(false)).toEqual(['a.txt', 'refs/heads/main']);
  expect(names(true)).toEqual(['a.txt', 'b.txt', 'refs/heads/main']);
  expect([affectedCount(mixed, false), affectedCount(mixed, true)]).toEqual([2, 3]);
});

test('the number of affected items counts those that are not listed', () => {
  const cut = preview({ items: [item('create', '/a')], more_items: 4, restorable: 4, conflicts: 1 });
  expect(affectedItems(cut, true)).toHaveLength(1);
  expect([affectedCount(cut, false), affectedCount(cut, true)]).toEqual([4, 5]);
});

test('a path outside the project stays absolute', () => {
  expect(itemName(item('create', '/home/dev/shop2/a'), '/home/dev/shop')).toBe('/home/dev/shop2/a');
});

test('the preview is summarized by number of items', () => {
  expect(previewText(mixed)).toBe(
    '2 items can be restored, 1 item was changed after the call, 1 item cannot be restored, 1,200 items are unchanged.',
  );
  expect(previewText(preview({ unchanged: 3 }))).toBe('Everything is as it was before the call.');
  expect(previewText(preview({ items: [item('blocked', '/a')] }))).toBe('1 item cannot be restored.');
  expect(previewText(preview({ items: [item('conflict', '/a')], more_items: 1, conflicts: 2 }))).toBe(
    '2 items were changed after the call.',
  );
  expect(previewText(preview({ more_items: 3 }))).toBe('3 items cannot be restored.');
});

test('the result names what was left, also if it is not listed', () => {
  const result = { id: '1-1', restored: 1, left: [], more_left: 0, saved: null };
  expect(resultText(result)).toBe('Restored 1 item.');
  expect(resultText({ ...result, restored: 0, left: [item('conflict', '/a')], more_left: 1000 })).toBe(
    'Restored 0 items; 1,001 items left unchanged.',
  );
});

test('the contents of a snapshot are paths, refs and bytes', () => {
  expect(contentsText({ entries: 1, bytes: 12 })).toBe('1 path, 12 B');
  expect(contentsText({ entries: 0, refs: 2, bytes: 0 })).toBe('0 paths, 2 git refs, 0 B');
});
