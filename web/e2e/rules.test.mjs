// SPDX-License-Identifier: Apache-2.0 OR MIT

// The Rules page: a rule is created from a decision, backtested, saved, and then denies calls.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { launch, open } from './lib/browser.mjs';
import { Codes } from './lib/codes.mjs';
import { Daemon } from './lib/daemon.mjs';

let daemon;
let browser;
let codes;

const bash = (command) =>
  daemon.hook('claude-code', 'PreToolUse', {
    session_id: 'rules',
    cwd: daemon.home,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: 't',
  });

before(async () => {
  [daemon, browser] = [await Daemon.start(), await launch()];
  codes = await Codes.enroll(daemon);
  for (const command of ['ls', 'docker run --rm ubuntu', 'docker run alpine', 'echo docker run'])
    await bash(command);
});

after(async () => {
  await browser?.close();
  await daemon?.stop();
});

/** Record number of the latest decision about a command. */
async function leaf(command) {
  const found = await daemon.ask(
    'GET',
    `/v1/ledger?kind=decision&text=${encodeURIComponent(command)}&limit=1`,
  );
  return found.json.leaves[0].seq;
}

test('rules are listed, searched and shown', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/rules`);
  const grid = page.getByRole('grid', { name: 'Rules' });
  await grid.getByText('recursive-delete', { exact: true }).waitFor();
  await accessible(page, 'rules');
  await page.getByRole('searchbox', { name: 'Search rules' }).fill('credential');
  await grid.getByText('recursive-delete', { exact: true }).waitFor({ state: 'detached' });
  await page.getByRole('searchbox', { name: 'Search rules' }).fill('recursive-delete');
  await grid.getByText('recursive-delete', { exact: true }).click();
  await page
    .getByRole('complementary', { name: 'recursive-delete' })
    .getByText('Message to the agent')
    .waitFor();
  assert.deepEqual(page.wrong, []);
});

test('rules are sorted by a column, and a rule is turned off only with a code', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/rules`);
  const grid = page.getByRole('grid', { name: 'Rules' });
  await grid.getByText('recursive-delete', { exact: true }).waitFor();
  const names = async () =>
    (await grid.locator('.mono').allInnerTexts()).slice(0, 8).map((name) => name.trim());
  await grid.getByRole('columnheader', { name: 'Rule', exact: true }).getByRole('button').click();
  const first = await names();
  assert.deepEqual(first, [...first].sort());
  await grid.getByRole('columnheader', { name: 'Rule', exact: true }).getByRole('button').click();
  const last = await names();
  assert.deepEqual(last, [...last].sort().reverse());
  assert.notDeepEqual(first, last);
  await page.goto(`${daemon.origin}/#/rules?rule=remote-code`);
  const drawer = page.getByRole('complementary', { name: 'remote-code' });
  await drawer.getByRole('button', { name: 'Turn off' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code from your authenticator app').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await drawer.getByRole('button', { name: 'Turn off' }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('a rule from a decision is tested, saved, and denies calls', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/rules/new?from=${await leaf('docker run --rm ubuntu')}&verdict=deny`);
  await page.getByRole('heading', { level: 1, name: 'Deny this call' }).waitFor();
  await page.getByText('program: [docker]').waitFor();
  // Make the rule broader, with another reason.
  await page.getByLabel('Arguments, in this order').fill('run');
  await page.getByLabel('Reason (shown to agent and user)').fill('<b>No</b> containers here.');
  await page.getByText('words: [run]').waitFor();
  await page.getByText('Valid; all examples pass').waitFor();
  await accessible(page, 'builder');
  await page.getByRole('button', { name: 'Run backtest' }).click();
  await page.getByText('This would have changed 2 of 4 decisions.').waitFor();
  // Errors are shown while typing.
  const reason = page.getByLabel('Programs');
  await reason.fill('podman');
  await page
    .getByRole('alert')
    .getByText(/should get deny but gets/)
    .waitFor();
  assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
  await reason.fill('docker');
  await page.getByText('Valid; all examples pass').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This would have changed 2 of 4 decisions.').waitFor();
  await dialog
    .getByText('+ id: no-docker', { exact: false })
    .or(dialog.getByText('- id: no-docker', { exact: false }))
    .first()
    .waitFor();
  await accessible(page, 'review');
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The policy is active from the next event on').waitFor();
  const reply = await bash('sudo docker run x');
  assert.equal(reply.hookSpecificOutput.permissionDecision, 'deny');
  assert.match(reply.hookSpecificOutput.permissionDecisionReason, /<b>No<\/b> containers here/);
  const change = await daemon.ask('GET', '/v1/ledger?kind=change&limit=5');
  assert.ok(change.json.leaves.some((one) => one.leaf.what === 'policy change'));
  assert.deepEqual(page.wrong, []);
});

test('an exception from a decision allows exactly this call', async () => {
  await bash('docker run exactly-this');
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/rules/new?from=${await leaf('docker run exactly-this')}&verdict=allow`);
  await page.getByRole('heading', { level: 1, name: 'Allow this call' }).waitFor();
  await page.getByText('Valid; all examples pass').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/This would have changed 3 of 6 decisions/).waitFor();
  await dialog.getByLabel('Code from your authenticator app').fill('000000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('the code is wrong', { exact: false }).waitFor();
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The policy is active from the next event on').waitFor();
  assert.notEqual((await bash('docker run exactly-this'))?.hookSpecificOutput?.permissionDecision, 'deny');
  assert.equal((await bash('docker run other'))?.hookSpecificOutput?.permissionDecision, 'deny');
  assert.deepEqual(
    page.wrong.filter((text) => !text.includes('403')),
    [],
  );
});

test('a pack is enabled', async () => {
  const page = await open(browser, daemon, { path: '#/rules' });
  await page.getByRole('button', { name: /Enable.*git-strict/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
  await page.getByText('“git-strict” is enabled').waitFor();
  await page.getByRole('button', { name: /Disable.*git-strict/ }).waitFor();
  const packs = (await daemon.ask('GET', '/v1/packs')).json.packs;
  assert.equal(packs.find((pack) => pack.name === 'git-strict').on, true);
  assert.deepEqual(page.wrong, []);
});

test('a template is shown as it would be written', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/rules/new`);
  await page.getByLabel('Template').selectOption('env-files');
  await page.getByText('Environment files contain keys.').waitFor();
  await page.getByText('Valid; all examples pass').waitFor();
  assert.deepEqual(page.wrong, []);
});

// Last, because a process that calls a hook this way counts as an agent and gets no more links.
test('the rule applies to the program that a harness starts', () => {
  const payload = {
    session_id: 'rules',
    cwd: daemon.home,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'docker run y' },
    tool_use_id: 't',
  };
  const said = execFileSync(process.env.TENTERHOOK_BIN, ['hook', 'claude-code', 'pre-tool-use'], {
    env: daemon.env,
    input: JSON.stringify(payload),
    encoding: 'utf8',
  });
  assert.equal(JSON.parse(said).hookSpecificOutput.permissionDecision, 'deny');
});
