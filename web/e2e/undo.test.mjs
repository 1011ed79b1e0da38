// SPDX-License-Identifier: Apache-2.0 OR MIT

// Undo in the browser: previews and restores of what calls lost, in a real repository.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { Codes } from './lib/codes.mjs';
import { tool } from './lib/data.mjs';
import { visit, world } from './lib/world.mjs';

const it = world();

const AUTHOR = ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com'];
const RESET = 'git reset --hard';

/** A repository with two uncommitted changes, which a call of a session discards. */
async function discarded(session) {
  const project = join(it.daemon.home, session);
  const path = (name) => join(project, name);
  const git = (...words) =>
    execFileSync('git', [...AUTHOR, ...words], { cwd: project, env: it.daemon.env, stdio: 'pipe' });
  mkdirSync(project);
  const write = (name, text) => writeFileSync(path(name), text);
  const read = (name) => readFileSync(path(name), 'utf8');
  for (const name of ['cart.txt', 'price.txt']) write(name, 'committed\n');
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  for (const name of ['cart.txt', 'price.txt']) write(name, 'uncommitted\n');
  const call = { session_id: session, cwd: project, tool_name: 'Bash', tool_use_id: `use-${session}` };
  const send = (event) =>
    it.daemon.hook('claude-code', event, { ...call, hook_event_name: event, tool_input: { command: RESET } });
  const reply = await send('PreToolUse');
  assert.equal(reply?.hookSpecificOutput?.permissionDecision, undefined, JSON.stringify(reply));
  git('reset', '-q', '--hard');
  await send('PostToolUse');
  assert.deepEqual([read('cart.txt'), read('price.txt')], ['committed\n', 'committed\n']);
  const { json } = await it.daemon.ask('GET', `/v1/snapshots?session=${session}`);
  return { write, read, project, snapshot: json.snapshots[0] };
}

const undoPanel = (page) =>
  page.locator('section', { has: page.getByRole('heading', { name: 'Undo', exact: true }) });

/** Writes after the call. The times of files have a limited resolution. */
async function writeLater(made, name, text) {
  await new Promise((done) => setTimeout(done, 30));
  made.write(name, text);
}

test('a session lists what can be restored, and restores it after a confirmation', async () => {
  const made = await discarded('restored');
  const page = await it.open();
  await visit(page, it.daemon, 'sessions/claude-code:restored');
  const row = page.getByRole('grid', { name: 'Timeline' }).getByRole('row', { name: RESET }).first();
  await row.getByText('saved', { exact: true }).waitFor();
  const panel = undoPanel(page);
  await panel.locator('summary', { hasText: RESET }).click();
  await panel.getByText('2 items can be restored', { exact: false }).waitFor();
  const items = panel.getByRole('region', { name: 'Items of the snapshot' });
  assert.match(await items.innerText(), /replaced\s+cart\.txt[\s\S]*replaced\s+price\.txt/);
  assert.equal(await panel.getByRole('button', { name: 'Replace newer work…' }).count(), 0);
  await accessible(page, 'undo-session');

  await panel.getByRole('button', { name: 'Restore 2 items…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore 2 items' });
  assert.match(await dialog.getByRole('region', { name: 'Items' }).innerText(), /cart\.txt[\s\S]*price\.txt/);
  assert.equal(await dialog.locator('input').count(), 0, 'a restore needs no code');
  await accessible(page, 'undo-confirm');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(made.read('cart.txt'), 'committed\n', 'nothing is restored without a confirmation');

  await panel.getByRole('button', { name: 'Restore 2 items…' }).click();
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
  await panel.getByText('Restored 2 items.').waitFor();
  assert.deepEqual([made.read('cart.txt'), made.read('price.txt')], ['uncommitted\n', 'uncommitted\n']);
  await panel.getByText('Everything is as it was before the call.').waitFor();
  assert.equal(await panel.getByRole('button', { name: /Restore/ }).count(), 0);
  // What the restore replaced is a snapshot of the session too, and restores the state after the call.
  await panel.locator('summary', { hasText: 'replaced by a restore' }).click();

  await panel.getByRole('button', { name: 'Restore 2 items…' }).click();
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual([made.read('cart.txt'), made.read('price.txt')], ['committed\n', 'committed\n']);
  assert.deepEqual(page.wrong, []);
});

test('a decision lists newer work, which a restore leaves, and which is replaced only with a code', async () => {
  const made = await discarded('newer');
  await writeLater(made, 'price.txt', 'newer work\n');
  const page = await it.open({ expected: ['status of 403'] });
  await visit(page, it.daemon, `decisions?show=all&leaf=${made.snapshot.event}`);
  const undo = page.getByRole('complementary').getByRole('region', { name: 'Undo', exact: true });
  await undo
    .getByText('1 item can be restored, 1 item was changed after the call', { exact: false })
    .waitFor();
  const items = undo.getByRole('region', { name: 'Items of the snapshot' });
  const newer = items.getByRole('listitem').filter({ hasText: 'price.txt' });
  assert.match(await newer.innerText(), /newer work\s+price\.txt\s+it was changed after the call/);
  await accessible(page, 'undo-decision');

  await undo.getByRole('button', { name: 'Restore 1 item…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
  await undo.getByText('Restored 1 item; 1 item left unchanged.').waitFor();
  assert.deepEqual([made.read('cart.txt'), made.read('price.txt')], ['uncommitted\n', 'newer work\n']);
  await undo.getByText(/^1 item was changed after the call/).waitFor();

  // Without codes, the dialog names the command and has no button that replaces.
  const dialog = page.getByRole('dialog', { name: 'Replace newer work' });
  await undo.getByRole('button', { name: 'Replace newer work…' }).click();
  await dialog.getByText(`tenterhook undo ${made.snapshot.id} --force`).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Replace', exact: true }).count(), 0);
  await dialog.getByRole('button', { name: 'Close' }).click();

  const codes = await Codes.enroll(it.daemon);
  await undo.getByRole('button', { name: 'Replace newer work…' }).click();
  const field = dialog.getByLabel('Code from your authenticator app');
  await field.waitFor();
  assert.match(await dialog.getByRole('region', { name: 'Items' }).innerText(), /price\.txt\s+newer work/);
  await accessible(page, 'undo-force');
  await field.fill('000000');
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  assert.equal(made.read('price.txt'), 'newer work\n', 'a wrong code replaces nothing');
  await field.fill(await codes.next());
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await undo.getByText('Restored 1 item.').waitFor();
  assert.equal(made.read('price.txt'), 'uncommitted\n');
  await undo.getByText('Everything is as it was before the call.').waitFor();
  // The replaced work is in another snapshot, which the page names.
  const command = await undo.getByRole('region', { name: 'command' }).innerText();
  it.daemon.run(...command.trim().split(' ').slice(1));
  assert.equal(made.read('price.txt'), 'newer work\n');
  await undo.getByRole('button', { name: 'Compare again' }).click();
  await undo.getByText('1 item was changed after the call', { exact: false }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('work that is written while the page is open is newer work', async () => {
  const made = await discarded('meanwhile');
  const page = await it.open();
  await visit(page, it.daemon, `decisions?show=all&leaf=${made.snapshot.event}`);
  const undo = page.getByRole('complementary').getByRole('region', { name: 'Undo', exact: true });
  await undo.getByText('2 items can be restored', { exact: false }).waitFor();
  await writeLater(made, 'cart.txt', 'newer work\n');
  await undo.getByRole('button', { name: 'Restore 2 items…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore 1 item' });
  await dialog.waitFor();
  // And also after the question.
  await writeLater(made, 'price.txt', 'newer work\n');
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
  await undo.getByText('Restored 0 items; 2 items left unchanged.').waitFor();
  assert.deepEqual([made.read('cart.txt'), made.read('price.txt')], ['newer work\n', 'newer work\n']);
  assert.deepEqual(page.wrong, []);
});

test('a call that was not saved has no undo', async () => {
  await tool(it.daemon, 'not-saved', 'Bash', { command: 'ls' });
  const { json } = await it.daemon.ask('GET', '/v1/ledger/calls?session=not-saved');
  const page = await it.open();
  await visit(page, it.daemon, `decisions?show=all&leaf=${json.rows[0].seq}`);
  await page.getByText('Verified: this record is in the signed ledger').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Undo', exact: true }).count(), 0);
  await visit(page, it.daemon, 'sessions/claude-code:not-saved');
  await page.getByRole('grid', { name: 'Timeline' }).getByRole('row', { name: 'ls' }).first().waitFor();
  assert.equal(await undoPanel(page).count(), 0);
  assert.deepEqual(page.wrong, []);
});
