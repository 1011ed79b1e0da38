// SPDX-License-Identifier: Apache-2.0 OR MIT

// The Hooks page: statistics, tests, enabling, templates and the hook form.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { launch, open } from './lib/browser.mjs';
import { Codes } from './lib/codes.mjs';
import { Daemon } from './lib/daemon.mjs';

const SETTINGS = `hooks:
  - id: look
    on: pre-tool
    match: Bash
    command: 'case $(cat) in *docker*) echo "no <i>containers</i>" >&2; exit 2;; *broken*) exit 3;; esac'
`;

let daemon;
let browser;
let codes;

const fire = (tool, input) =>
  daemon.hook('claude-code', 'PreToolUse', {
    session_id: 'hooks',
    cwd: daemon.home,
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: 't',
  });

before(async () => {
  [daemon, browser] = [await Daemon.start(), await launch()];
  codes = await Codes.enroll(daemon);
  mkdirSync(join(daemon.home, 'th'), { recursive: true });
  writeFileSync(join(daemon.home, 'th/tenterhook.yaml'), SETTINGS);
  for (;;) {
    const { hooks } = (await daemon.ask('GET', '/v1/hooks')).json;
    if (hooks.length === 1) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  for (const command of ['ls', 'docker ps', 'broken']) await fire('Bash', { command });
});

after(async () => {
  await browser?.close();
  await daemon?.stop();
});

// seed: 003-101
test('a hook shows its statistics and can be tested', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/hooks`);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'look' }) });
  await row.waitFor();
  const cells = await row.getByRole('cell').allInnerTexts();
  // Calls, denied, changed, failed.
  assert.deepEqual([cells[1], cells[6], cells[7], cells[8].trim()], ['3', '1', '0', '1'], cells.join('|'));
  await fire('Bash', { command: 'docker images' });
  await row.getByRole('cell', { name: '4', exact: true }).waitFor({ timeout: 5000 });
  await accessible(page, 'hooks');
  await row.getByRole('link', { name: 'look' }).click();
  const detail = page.getByRole('complementary', { name: 'look' });
  await detail.getByRole('figure', { name: 'Calls of look per minute' }).waitFor();
  await detail.getByText('Last error', { exact: false }).waitFor();
  await detail
    .getByRole('textbox')
    .fill('{"event": "pre-tool", "tool": {"name": "Bash", "args": {"command": "docker ps"}}}');
  await detail.getByRole('button', { name: 'Run test' }).click();
  await detail.getByText('✕ denied').waitFor();
  await detail.getByRole('region', { name: 'outcome' }).getByText('no <i>containers</i>').waitFor();
  await accessible(page, 'hook');
  assert.deepEqual(page.wrong, []);
});

test('a template becomes a hook that denies, and is disabled', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/hooks/templates`);
  await page.getByRole('searchbox', { name: 'Search templates' }).fill('.env');
  await page.getByRole('button', { name: /View.*env-guard/ }).click();
  await accessible(page, 'templates');
  await page.getByRole('button', { name: 'Use template' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('def', { exact: false }).or(dialog.getByText('# guard.py')).first().waitFor();
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Save and trust' }).click();
  await page.getByText('“env-guard” is active from the next event on').waitFor();
  const secret = { file_path: join(daemon.home, '.env'), content: 'API_KEY=0123456789abcdef' };
  const reply = await fire('Write', secret);
  assert.equal(reply.hookSpecificOutput.permissionDecision, 'deny');
  await page.goto(`${daemon.origin}/#/hooks?hook=env-guard`);
  const detail = page.getByRole('complementary', { name: 'env-guard' });
  await detail.getByRole('button', { name: 'Run test' }).click();
  await detail.getByText('✕ denied').waitFor();
  await detail.getByRole('button', { name: 'Disable' }).click();
  await page
    .getByRole('dialog')
    .getByLabel('Code from your authenticator app')
    .fill(await codes.next());
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('“env-guard” is disabled').waitFor();
  assert.notEqual((await fire('Write', secret))?.hookSpecificOutput?.permissionDecision, 'deny');
  assert.deepEqual(page.wrong, []);
});

// seed: 003-100
test('a hook is built without code', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/hooks/build`);
  await page.getByLabel('Name').fill('no-rsync');
  await page.getByLabel('Condition (CEL)').fill('tool.args.command.startsWith("rsync"');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Condition (CEL)').fill('tool.args.command.startsWith("rsync")');
  await page.getByLabel('Reason for the agent').fill('no "rsync" here');
  await page.getByText('✓ Valid').waitFor();
  await accessible(page, 'build');
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Save and trust' }).click();
  await page.getByRole('complementary', { name: 'no-rsync' }).waitFor();
  const reply = await fire('Bash', { command: 'rsync a b' });
  assert.equal(reply.hookSpecificOutput.permissionDecisionReason, 'no "rsync" here');
  assert.deepEqual(page.wrong, []);
});
