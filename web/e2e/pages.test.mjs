// SPDX-License-Identifier: Apache-2.0 OR MIT

// Rules, sessions, sandboxed runs and programs: what each page shows beyond its list.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { claude, lived } from './lib/data.mjs';
import { visit, world } from './lib/world.mjs';

const RULES = `version: 1
rules:
  - {id: no-tracker, match: {tool: NetworkConnect, host: ["*.tracker.example"]}, verdict: deny, reason: No trackers.}
`;
const PROGRAM = `acme-deploy:
  about: The deployment tool of the company
  operands: delete...
`;

const it = world(async (daemon) => {
  writeFileSync(join(daemon.home, 'th/policy.yaml'), RULES);
  mkdirSync(join(daemon.home, 'th/programs'), { recursive: true });
  writeFileSync(join(daemon.home, 'th/programs/acme.yaml'), PROGRAM);
  for (;;) {
    const { rules } = (await daemon.ask('GET', '/v1/policy')).json;
    if (rules.some((rule) => rule.id === 'no-tracker')) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  const session = await lived(daemon);
  const connect = (host, id) => ({
    tool_name: 'NetworkConnect',
    tool_input: { host, port: 443, url: `https://${host}/` },
    tool_use_id: id,
  });
  await claude(daemon, session, 'PreToolUse', connect('pixel.tracker.example', 'net-1'));
  await claude(daemon, session, 'PreToolUse', connect('docs.example.org', 'net-2'));
  const refused = { tool_name: 'SandboxRefusal', tool_use_id: 'file-1', error: 'hooks run later' };
  const tool_input = {
    path: '/home/dev/shop/.git/hooks/pre-commit',
    operation: 'write',
    rule: 'persistence',
  };
  await claude(daemon, session, 'PostToolUseFailure', { ...refused, tool_input });
  return session;
});

const panel = (page, title) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
const wide = { viewport: { width: 1440, height: 900 } };

test('a rule shows what it matches in words, its examples, its YAML and how often it matched', async () => {
  const page = await it.open(wide);
  await visit(page, it.daemon, 'rules', 'Rules');
  const grid = page.getByRole('grid', { name: 'Rules' });
  await grid.getByRole('columnheader', { name: 'Matched' }).getByRole('button').click({ timeout: 20_000 });
  await grid.getByRole('columnheader', { name: 'Matched' }).getByRole('button').click();
  const first = grid.getByRole('row').nth(1);
  await first.getByText(/^(recursive-delete|remote-code|no-tracker)$/).waitFor();
  await grid
    .getByRole('row', { name: /recursive-delete/ })
    .first()
    .click();
  const drawer = page.getByRole('complementary', { name: 'recursive-delete' });
  await drawer.getByRole('heading', { name: 'Matches, if one of these is true' }).waitFor();
  await drawer
    .getByText(/a command with the program rm/)
    .first()
    .waitFor();
  await drawer.getByRole('heading', { name: 'Dangerous examples, all tested' }).waitFor();
  await drawer.locator('strong.big', { hasText: '1' }).waitFor();
  await drawer.getByText(/last \d+ s ago|last now|last \d+ min ago/).waitFor();
  await drawer.getByText('YAML', { exact: false }).first().click();
  await drawer.getByRole('region', { name: 'rule in YAML' }).getByText('id: recursive-delete').waitFor();
  await drawer.getByRole('textbox', { name: 'Command to try' }).fill('rm -rf /');
  await drawer.getByRole('button', { name: 'Try', exact: true }).click();
  await drawer.getByText('this rule matches').waitFor();
  await drawer.getByRole('textbox', { name: 'Command to try' }).fill('ls');
  await drawer.getByRole('button', { name: 'Try', exact: true }).click();
  await drawer.getByText('this rule does not match').waitFor();
  await accessible(page, 'rule');
  assert.deepEqual(page.wrong, []);
});

test('a new rule starts from a command, and reports nothing before there is one', async () => {
  const page = await it.open(wide);
  await visit(page, it.daemon, 'rules/new', 'New rule');
  await page.waitForTimeout(600);
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.getByText('Paste a command or fill in a condition.').waitFor();
  assert.equal(await page.getByLabel('Condition (CEL)').isVisible(), false, 'advanced fields are collapsed');
  await page.getByRole('textbox', { name: 'Command to start from' }).fill('kubectl delete namespace shop');
  await page.getByRole('button', { name: 'Fill in' }).click();
  await page.getByText('program: [kubectl]').waitFor();
  assert.equal(await page.getByLabel('Programs').inputValue(), 'kubectl');
  assert.equal(await page.getByLabel('Arguments, in this order').inputValue(), 'delete');
  assert.equal(await page.getByLabel('Must be denied').inputValue(), 'kubectl delete namespace shop');
  await page.getByText('Valid; all examples pass').waitFor();
  await accessible(page, 'new-rule');
  assert.deepEqual(page.wrong, []);
});

test('a session has a waterfall, readable calls, and a diff in the details', async () => {
  const page = await it.open(wide);
  await visit(page, it.daemon, `sessions/claude-code:${it.made}`, /Totals in the checkout/);
  const timeline = page.getByRole('grid', { name: 'Timeline' });
  await timeline.getByText('1 of 3 done · now: Round once, at the end').waitFor();
  const ran = timeline.getByRole('row', { name: /npm test -- cart/ });
  assert.ok((await ran.locator('.span').boundingBox()).width >= 3);
  assert.match(await ran.innerText(), /40 ms/);
  const top = () => timeline.getByRole('row').nth(1).innerText();
  assert.match(await top(), /SandboxRefusal/);
  await page.getByRole('button', { name: 'Oldest first' }).click();
  await timeline.getByRole('row').nth(1).getByText('session-start').waitFor();
  await page.reload();
  await timeline.getByRole('row').nth(1).getByText('session-start').waitFor();
  await timeline.getByRole('row', { name: /Edit.*cart\.ts/ }).click();
  const drawer = page.getByRole('complementary', { name: /^Record/ });
  await drawer.locator('.diff .new', { hasText: 'return round(exact)' }).waitFor();
  await accessible(page, 'session-record');
  await page.keyboard.press('Escape');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Share as HTML' }).click();
  assert.match((await saved).suggestedFilename(), /^session-.*\.html$/);
  assert.deepEqual(page.wrong, []);
});

/** Registers a run over the socket, as the supervisor of a sandbox does. */
function registerRun(daemon, run) {
  return new Promise((done, failed) => {
    const socketPath = join(daemon.home, 'th/run/tenterhook.sock');
    const headers = { 'content-type': 'application/json', host: 'localhost' };
    const sent = request({ socketPath, method: 'POST', path: '/v1/runs', headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => done({ status: answer.statusCode, text }));
    });
    sent.on('error', failed);
    sent.end(JSON.stringify(run));
  });
}

let confined;
after(() => confined?.kill());

test('sandboxed runs, refused connections and past runs have a page', async () => {
  const page = await it.open(wide);
  await visit(page, it.daemon, 'sandbox', 'Sandbox');
  await page.getByText('No sandboxed run. Start an agent in a sandbox:').waitFor();
  const connections = page.getByRole('grid', { name: 'Connections' });
  const refused = connections.getByRole('row', { name: /pixel\.tracker\.example/ });
  await refused.getByText('no-tracker').waitFor();
  assert.equal(await connections.getByText('docs.example.org').count(), 0);
  await page.getByRole('group', { name: 'Connections' }).getByRole('button', { name: 'All' }).click();
  await connections.getByText('docs.example.org').first().waitFor();

  const files = page.getByRole('grid', { name: 'Refused files' });
  await files.getByText('/home/dev/shop/.git/hooks/pre-commit').waitFor();

  confined = spawn('sleep', ['60']);
  const id = '01JCQZ8W3N6R5T4V7X9Y2B1D00';
  const run = { id, init_pid: confined.pid, level: 'landlock', command: 'sleep 60', cwd: it.daemon.home };
  const made = await registerRun(it.daemon, run);
  assert.equal(made.status, 200, made.text);
  const running = panel(page, 'Running');
  await running.getByText('sleep 60').waitFor({ timeout: 8000 });
  await running.getByText('Landlock only').waitFor();
  await panel(page, 'History').getByText('started').waitFor();
  await accessible(page, 'sandbox');
  confined.kill();
  await panel(page, 'History').getByText('ended').waitFor({ timeout: 10_000 });
  assert.deepEqual(page.wrong, []);
});

test('programs lists built-in and described programs', async () => {
  const page = await it.open(wide);
  await visit(page, it.daemon, 'programs', 'Programs');
  await panel(page, 'Built in').getByText('rsync', { exact: true }).waitFor({ timeout: 20_000 });
  await panel(page, 'Described by you, the organisation or the project').getByText('acme-deploy').waitFor();
  await page.getByRole('searchbox', { name: 'Search programs' }).fill('acme');
  await panel(page, 'Built in').getByText('No built-in program matches.').waitFor();
  await accessible(page, 'programs');
  assert.deepEqual(page.wrong, []);
});
