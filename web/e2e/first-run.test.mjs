// SPDX-License-Identifier: Apache-2.0 OR MIT

// A new user: the checklist, the demo session, and codes that are set up in the browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { Codes } from './lib/codes.mjs';
import { tool } from './lib/data.mjs';
import { visit, world } from './lib/world.mjs';

const it = world();

test('without calls, the first page is a checklist and not empty axes', async () => {
  const page = await it.open({ viewport: { width: 1440, height: 900 } });
  await visit(page, it.daemon, 'now', 'Now');
  await page.getByRole('heading', { name: 'Getting started' }).waitFor();
  await page.getByText('Guard an agent').waitFor();
  await page.getByText('Set up codes (optional)').waitFor();
  assert.equal(await page.getByRole('figure', { name: /^Decision/ }).count(), 0);
  await accessible(page, 'first-run');
  assert.deepEqual(page.wrong, []);
});

test('the demo session shows the verdicts of the real rules and records nothing', async () => {
  const page = await it.open({ viewport: { width: 1440, height: 900 } });
  await visit(page, it.daemon, 'now', 'Now');
  const size = async () => (await it.daemon.ask('GET', '/v1/ledger/stats?kind=decision')).json.leaves;
  const before = await size();
  await page.getByRole('button', { name: 'Load the demo session' }).click();
  const demo = page.getByRole('list', { name: 'Demo session' });
  const line = (text) => demo.getByRole('listitem').filter({ hasText: text });
  await line('rm -rf ~/').getByText('denied').waitFor({ timeout: 30_000 });
  await line('npm test').getByText('no match').waitFor();
  await line('install.sh | sh').getByRole('link', { name: 'remote-code' }).waitFor();
  assert.equal(await size(), before);
  await accessible(page, 'demo-session');
  assert.deepEqual(page.wrong, []);
});

test('codes are set up with a QR code, and active after the first code in a terminal', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'approvals', 'Approvals');
  await page.getByText('Approving here needs codes.').waitFor();
  await page.getByRole('button', { name: 'Set up codes…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set up codes' });
  await dialog.getByRole('img', { name: 'QR code with the secret' }).waitFor();
  const secret = (await dialog.getByRole('region', { name: 'key' }).innerText()).trim();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  await accessible(page, 'code-setup');
  assert.equal((await it.daemon.ask('GET', '/v1/authority?action=approve')).json.needs, 'tty');
  const codes = Codes.of(secret);
  it.daemon.run('totp', 'verify', await codes.next());
  await page.getByText('Codes are active').waitFor({ timeout: 5000 });
  await page.getByText('Approving asks for a code from your authenticator app.').waitFor();
  assert.deepEqual(page.wrong, []);
});

test('the checklist ends with the first call', async () => {
  const page = await it.open({ viewport: { width: 1440, height: 900 } });
  await visit(page, it.daemon, 'now', 'Now');
  await page.getByRole('heading', { name: 'Getting started' }).waitFor();
  await tool(it.daemon, 'first', 'Bash', { command: 'ls' });
  await page.getByRole('heading', { name: 'Getting started' }).waitFor({ state: 'detached', timeout: 6000 });
  await page.getByRole('figure', { name: /^Decisions, / }).waitFor();
  assert.deepEqual(page.wrong, []);
});
