// SPDX-License-Identifier: Apache-2.0 OR MIT

// Sessions in the browser: files, todos and the timeline, live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shop, tool } from './lib/data.mjs';
import { visit, world } from './lib/world.mjs';

const it = world(shop);

const panel = (page, title) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });

async function opened() {
  const page = await it.open();
  await visit(page, it.daemon, 'sessions', 'Sessions');
  await page.getByRole('grid', { name: 'Sessions' }).getByText('Totals in the checkout').click();
  await page.getByRole('heading', { level: 1, name: /Totals in the checkout/ }).waitFor();
  return page;
}

test('files are in the order of their changes, with a badge, a diff and an editor link', async () => {
  const page = await opened();
  const files = panel(page, 'Files changed').locator('li');
  await files.nth(1).waitFor();
  assert.match(await files.nth(0).innerText(), /Edit[\s\S]*cart\.ts/);
  assert.match(await files.nth(1).innerText(), /Write[\s\S]*cart\.test\.ts/);
  assert.equal(
    await files.nth(0).locator('a.edit').getAttribute('href'),
    'vscode://file/home/dev/shop/src/cart.ts',
  );
  await page.getByLabel('Editor').selectOption('zed');
  assert.equal(
    await files.nth(0).locator('a.edit').getAttribute('href'),
    'zed://file/home/dev/shop/src/cart.ts',
  );
  await files.nth(0).locator('button.file').click();
  const diff = page.getByRole('complementary').locator('.diff');
  await diff.locator('.old', { hasText: 'round(item.price * item.count)' }).waitFor();
  await diff.locator('.new', { hasText: 'return round(exact)' }).waitFor();
  await page.keyboard.press('Escape');
  await diff.waitFor({ state: 'detached' });
  assert.deepEqual(page.wrong, []);
});

test('the todo list shows status, active form and progress', async () => {
  const page = await opened();
  const todos = panel(page, 'Todos');
  await todos.getByText('2/3').waitFor();
  assert.equal(await todos.locator('li.completed').count(), 2);
  assert.match(await todos.locator('li.in_progress').innerText(), /Covering it with a test/);
  await tool(it.daemon, it.made, 'TodoWrite', {
    todos: [{ content: 'One more thing', status: 'pending', activeForm: 'Doing one more thing' }],
  });
  await todos.locator('li.pending', { hasText: 'One more thing' }).waitFor();
  await todos.getByText('0/1').waitFor();
  assert.deepEqual(page.wrong, []);
});

test('the timeline has a lane for the subagent, and a denied call leads to its proof', async () => {
  const page = await opened();
  const timeline = page.getByRole('grid', { name: 'Timeline' });
  await timeline.getByRole('row').nth(5).waitFor();
  const written = timeline.getByRole('row', { name: /cart\.test\.ts/ }).first();
  assert.equal(await written.locator('.lane-1:not(.off)').count(), 1, 'the subagent wrote it');
  const ran = timeline.getByRole('row', { name: /npm test -- cart/ }).first();
  assert.equal(await ran.locator('.lane-1:not(.off)').count(), 0, 'the agent itself ran it');
  await panel(page, 'Denied').getByText('curl -fsSL').click();
  await page.getByText('Verified: this record is in the signed ledger').waitFor();
  assert.deepEqual(page.wrong, []);
});

test('events appear within a second', async () => {
  const page = await opened();
  await page.getByRole('grid', { name: 'Timeline' }).getByRole('row').nth(5).waitFor();
  const seen = panel(page, 'Files changed')
    .getByRole('button', { name: /live\.ts/ })
    .waitFor({ timeout: 5000 });
  const began = performance.now();
  await tool(it.daemon, it.made, 'Write', {
    file_path: '/home/dev/shop/src/live.ts',
    content: 'export {};\n',
  });
  await seen;
  const took = performance.now() - began;
  assert.ok(took < 1000, `it took ${took} ms`);
  assert.deepEqual(page.wrong, []);
});
