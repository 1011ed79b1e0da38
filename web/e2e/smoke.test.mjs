// SPDX-License-Identifier: Apache-2.0 OR MIT

// Smoke test of every page, part of `make test`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shop, tool } from './lib/data.mjs';
import { pages, visit, world } from './lib/world.mjs';

const it = world(shop);

test('every page opens without errors', async () => {
  const page = await it.open();
  const all = await pages(page);
  assert.ok(all.length >= 8, JSON.stringify(all));
  for (const { path, name } of all) await visit(page, it.daemon, path, name);
  assert.deepEqual(page.wrong, []);
});

test('events of an agent appear within a second', async () => {
  const page = await it.open();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'All calls' }).click();
  const feed = page.getByRole('grid', { name: 'Live calls' });
  await feed.getByRole('row').nth(1).waitFor();
  const seen = feed.getByText('echo this is seen at once').first().waitFor({ timeout: 5000 });
  const began = performance.now();
  await tool(it.daemon, it.made, 'Bash', { command: 'echo this is seen at once' });
  await seen;
  const took = performance.now() - began;
  assert.ok(took < 1000, `it took ${took} ms`);
  assert.deepEqual(page.wrong, []);
});

test('a decision is verified in the browser', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'decisions?verdict=deny', 'Decisions');
  await page.getByRole('grid', { name: 'Decisions' }).getByRole('row').nth(1).click();
  await page.getByText('Verified: this record is in the signed ledger').waitFor();
  assert.deepEqual(page.wrong, []);
});
