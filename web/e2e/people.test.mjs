// SPDX-License-Identifier: Apache-2.0 OR MIT

// The pages on which users decide: Approvals, Harnesses, Settings.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { launch, open } from './lib/browser.mjs';
import { Codes } from './lib/codes.mjs';
import { Daemon } from './lib/daemon.mjs';

const RULES = `version: 1
rules:
  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}
`;

let daemon;
let browser;
let codes;

const codex = (command) =>
  daemon.hook('codex', 'pre-tool-use', {
    session_id: 'people',
    turn_id: 't',
    cwd: daemon.home,
    hook_event_name: 'PreToolUse',
    model: 'm',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: 'u',
  });

before(async () => {
  [daemon, browser] = [await Daemon.start(), await launch()];
  codes = await Codes.enroll(daemon);
  writeFileSync(join(daemon.home, 'th/policy.yaml'), RULES);
  mkdirSync(join(daemon.home, '.claude'));
  writeFileSync(join(daemon.home, '.claude/settings.json'), '{}\n');
  for (;;) {
    const { rules } = (await daemon.ask('GET', '/v1/policy')).json;
    if (rules.some((rule) => rule.id === 'ask-make')) break;
    await new Promise((done) => setTimeout(done, 50));
  }
});

after(async () => {
  await browser?.close();
  await daemon?.stop();
});

test('a waiting call is in the title, the icon and a banner on every page', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/sessions`);
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  const waits = codex('make banner');
  const banner = page.getByRole('status').filter({ hasText: 'codex waits for your approval' });
  await banner.getByText('make banner').waitFor({ timeout: 3000 });
  await banner.getByText(/denied in \d+ (s|min)/).waitFor();
  assert.equal(await page.title(), '(1) Sessions · Tenterhook');
  const icon = () => page.locator('link[rel="icon"]').getAttribute('href');
  const address = await icon();
  assert.match(address, /favicon-pending/);
  const picture = await page.evaluate(async (url) => (await fetch(url)).status, address);
  assert.equal(picture, 200);
  await accessible(page, 'approval-banner');
  await banner.getByRole('button', { name: 'Approve with code…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await banner.getByRole('button', { name: 'Deny' }).click();
  assert.equal((await waits).hookSpecificOutput.permissionDecision, 'deny');
  await banner.waitFor({ state: 'detached' });
  assert.equal(await page.title(), 'Sessions · Tenterhook');
  assert.equal(await icon(), '/favicon.svg');
  assert.deepEqual(page.wrong, []);
});

test('a notification tells about a waiting call if the user wants it', async () => {
  const page = await open(browser, daemon, { link: '' });
  // The browser has no notifications without a screen, so the page gets a class that records them.
  await page.addInitScript(() => {
    globalThis.shown = [];
    globalThis.Notification = class {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(title, options) {
        globalThis.shown.push([title, options.body]);
      }
    };
    document.hasFocus = () => false;
  });
  await page.goto(daemon.link());
  await page.goto(`${daemon.origin}/#/approvals`);
  await page.getByText('No pending approvals').waitFor();
  const first = codex('make quiet');
  await page.getByRole('heading', { name: 'make quiet' }).waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.shown), [], 'the user did not ask for notifications');
  await page.getByRole('button', { name: 'Deny' }).click();
  await first;
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Notifications on' }).waitFor();
  const second = codex('make noise');
  await page.getByRole('heading', { name: 'make noise' }).waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.shown), [
    ['codex waits for your approval', 'make noise'],
  ]);
  await page.getByRole('button', { name: 'Deny' }).click();
  await second;
  assert.deepEqual(page.wrong, []);
});

test('an approval is given, and a denial has a reason', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/approvals`);
  await page.getByText('No pending approvals').waitFor();
  const waits = codex('make "<img src=x onerror=alert(1)>"');
  const heading = page.getByRole('heading', { name: 'make "<img src=x onerror=alert(1)>"' });
  await heading.waitFor({ timeout: 3000 });
  await page
    .getByRole('timer')
    .getByText(/left, then denied/)
    .waitFor();
  await page.getByText('people make things').waitFor();
  await accessible(page, 'approvals');
  await page.getByRole('button', { name: 'Approve once' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Approve' }).click();
  assert.notEqual((await waits)?.hookSpecificOutput?.permissionDecision, 'deny');
  await page.getByText('No pending approvals').waitFor();

  const second = codex('make all');
  await page.getByRole('heading', { name: 'make all' }).waitFor();
  await page.getByLabel('Note for the agent and the ledger').fill('ask me tomorrow');
  await page.getByRole('button', { name: 'Deny' }).click();
  const reply = await second;
  assert.equal(reply.hookSpecificOutput.permissionDecision, 'deny');
  assert.match(JSON.stringify(reply), /ask me tomorrow/);
  assert.deepEqual(page.wrong, []);
});

test('hooks are installed after the change is shown', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/harnesses`);
  const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Claude Code' }) });
  await card.getByText('not guarded', { exact: true }).waitFor({ timeout: 20000 });
  await accessible(page, 'harnesses');
  await card.getByRole('button', { name: 'Install' }).click();
  const drawer = page.getByRole('complementary', { name: 'Planned changes' });
  await drawer.getByText('tenterhook-hook', { exact: false }).first().waitFor();
  assert.equal(readFileSync(join(daemon.home, '.claude/settings.json'), 'utf8'), '{}\n');
  await drawer.getByRole('button', { name: 'Install…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Install' }).click();
  await card.getByText('guarded', { exact: true }).waitFor({ timeout: 20000 });
  assert.match(readFileSync(join(daemon.home, '.claude/settings.json'), 'utf8'), /tenterhook-hook/);
  assert.deepEqual(page.wrong, []);
});

test('the mode is switched, and the ledger is exported', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/settings`);
  await page.getByRole('button', { name: 'Switch to monitor' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
  await dialog.getByRole('button', { name: 'Monitor' }).click();
  await page.getByText('Verdicts are only recorded').waitFor();
  assert.equal((await daemon.ask('GET', '/v1/mode')).json.mode, 'monitor');
  assert.notEqual((await codex('make x'))?.hookSpecificOutput?.permissionDecision, 'deny');
  await page.getByRole('button', { name: 'Switch to enforce' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enforce' }).click();
  await page.getByText('Verdicts are enforced.').waitFor();
  await accessible(page, 'settings');
  for (const [button, name, begins] of [
    ['Export (JSON lines)', 'ledger.jsonl', '{'],
    ['Download report', 'tenterhook-report.html', '<!doctype html>'],
  ]) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button, exact: true }).click(),
    ]);
    assert.equal(file.suggestedFilename(), name);
    assert.ok(readFileSync(await file.path(), 'utf8').startsWith(begins), name);
  }
  assert.deepEqual(page.wrong, []);
});

test('every page fits a narrow screen', async () => {
  const page = await open(browser, daemon, { viewport: { width: 400, height: 800 } });
  const pages = [
    'rules',
    'rules/new',
    'hooks',
    'hooks/templates',
    'hooks/build',
    'approvals',
    'harnesses',
    'settings',
  ];
  for (const name of pages) {
    await page.goto(`${daemon.origin}/#/${name}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => {
      const main = document.getElementById('main');
      return main.scrollWidth - main.clientWidth;
    });
    assert.equal(wide, 0, name);
  }
  assert.deepEqual(page.wrong, []);
});

/** A call of Codex over the socket, so that its session belongs to this process. */
function ownCodex(command) {
  const socketPath = join(daemon.home, 'th/run/tenterhook.sock');
  const headers = { 'content-type': 'application/json', host: 'localhost' };
  return new Promise((done, failed) => {
    const options = { socketPath, method: 'POST', path: '/v1/hooks/codex/pre-tool-use', headers };
    const sent = request(options, (answer) => {
      let text = '';
      answer.on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => done(text ? JSON.parse(text) : undefined));
    });
    sent.on('error', failed);
    sent.end(
      JSON.stringify({
        session_id: 'own',
        turn_id: 't',
        cwd: daemon.home,
        hook_event_name: 'PreToolUse',
        model: 'm',
        permission_mode: 'default',
        tool_name: 'Bash',
        tool_input: { command },
        tool_use_id: 'u',
      }),
    );
  });
}

// This is the last test: whoever calls a hook over the socket counts as an agent and gets no link any more.
test('an approval as a rule, and one for the session, answer later calls too', async () => {
  const page = await open(browser, daemon);
  await page.goto(`${daemon.origin}/#/approvals`);
  await page.getByText('No pending approvals').waitFor();
  const approve = async (command, scope) => {
    const waits = ownCodex(command);
    await page.getByRole('heading', { name: command }).waitFor({ timeout: 5000 });
    await page.getByText('needs a code', { exact: true }).waitFor();
    await page.getByRole('button', { name: scope }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Code from your authenticator app').fill(await codes.next());
    await dialog.getByRole('button', { name: 'Approve' }).click();
    assert.notEqual((await waits)?.hookSpecificOutput?.permissionDecision, 'deny');
    await page.getByText('No pending approvals').waitFor();
  };
  const isAnswered = async (command) => {
    const late = new Promise((done) => setTimeout(done, 8000, 'late'));
    return (await Promise.race([ownCodex(command), late])) !== 'late';
  };
  await approve('make rule', 'As a rule');
  assert.match(readFileSync(join(daemon.home, 'th/policy.yaml'), 'utf8'), /make rule/);
  assert.ok(await isAnswered('make rule'), 'the exception covers the same call');
  await approve('make session', 'For this session');
  assert.ok(await isAnswered('make other'), 'the rule does not ask in this session again');
  assert.deepEqual(page.wrong, []);
});
