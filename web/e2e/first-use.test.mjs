// SPDX-License-Identifier: Apache-2.0 OR MIT

// What a new user sees: no guarded agent, no events, and invalid hooks.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessible } from './lib/accessible.mjs';
import { claude, tool } from './lib/data.mjs';
import { at, visit, world } from './lib/world.mjs';

const POLICY = `version: 1
rules:
  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}
`;

let script;
const it = world(
  async (daemon) => {
    script = join(daemon.home, 'guard.sh');
    writeFileSync(script, 'case $(cat) in *docker*) echo "no containers" >&2; exit 2;; esac\n');
    const hook = `hooks:\n  - {id: guard, on: pre-tool, match: Bash, exec: [sh, ${script}]}\n`;
    writeFileSync(join(daemon.home, 'th/tenterhook.yaml'), hook);
    writeFileSync(join(daemon.home, 'th/policy.yaml'), POLICY);
    const has = async (path, found) => {
      while (!found((await daemon.ask('GET', path)).json)) await new Promise((done) => setTimeout(done, 50));
    };
    await has('/v1/hooks', ({ hooks }) => hooks.length === 1);
    await has('/v1/policy', ({ rules }) => rules.some((rule) => rule.id === 'ask-make'));
    await has('/v1/health', ({ guarded }) => guarded !== undefined);
  },
  { prepare: (_, home) => mkdirSync(join(home, '.claude')) },
);

const health = (page) => page.locator('section', { has: page.getByRole('heading', { name: 'Health' }) });

test('health shows that no agent is guarded, and how to change that', async () => {
  const page = await it.open();
  await health(page).getByText('No agent is guarded.').waitFor();
  await health(page).getByText('tenterhook install', { exact: true }).waitFor();
  assert.equal(await health(page).getByText('healthy').count(), 0);
  await accessible(page, 'first-now');
  await health(page).getByRole('link', { name: 'install the hooks here' }).click();
  const card = page.locator('section', { has: page.getByRole('heading', { name: 'Claude Code' }) });
  await card.getByText(/Not guarded; hooks would cover \d+ of \d+ events/).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('health shows the protection of each agent and the level of the rules', async () => {
  const page = await it.open();
  const of = (name) =>
    health(page).locator('dt', { hasText: name }).locator('xpath=following-sibling::dd[1]');
  await of('claude-code').getByText('not guarded').waitFor();
  await of('Rules').getByText('standard', { exact: true }).waitFor();
  it.daemon.run('rules', 'level', 'strict');
  await of('Rules').getByText('strict', { exact: true }).waitFor({ timeout: 10_000 });
  await tool(it.daemon, 'now-guarded', 'Bash', { command: 'ls' });
  await of('claude-code').getByText('hooks', { exact: true }).waitFor({ timeout: 10_000 });
  assert.equal(await of('claude-code').getByText('not guarded').count(), 0);
  await accessible(page, 'health-levels');
  assert.deepEqual(page.wrong, []);
});

test('the labels of a chart with little data are different from each other', async () => {
  const page = await it.open();
  await page.addInitScript(() => {
    window.drawn = [];
    const draw = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.drawn.push([this.canvas.closest('figure')?.getAttribute('aria-label'), text]);
      return draw.call(this, text, ...rest);
    };
  });
  await page.reload();
  for (const label of ['Decisions, last 24 hours', 'Decision time, last 24 hours']) {
    await page.waitForFunction((name) => window.drawn.some(([of]) => of === name), label);
    const ticks = await page.evaluate(
      (name) =>
        window.drawn.filter(([of, text]) => of === name && text && !text.includes(':')).map((one) => one[1]),
      label,
    );
    assert.ok(ticks.length >= 2, ticks.join());
    // One rendering of the axis: labels repeat only when it is rendered again.
    const first = ticks.slice(0, ticks.indexOf(ticks[0], 1) < 0 ? undefined : ticks.indexOf(ticks[0], 1));
    assert.deepEqual(new Set(first).size, first.length, ticks.join());
    assert.ok(first.length >= 2, ticks.join());
  }
});

test('navigating away closes a dialog', async () => {
  const page = await it.open({ path: '#/settings' });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Switch to monitor' }).click();
  await dialog.waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('button', { name: 'Switch to monitor' }).click();
  await dialog.waitFor();
  await page.goBack();
  await dialog.waitFor({ state: 'detached' });
  // The page is usable, and opens the dialog again.
  await visit(page, it.daemon, 'settings', 'Settings');
  await page.getByRole('button', { name: 'Switch to monitor' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(page.wrong, []);
});

test('an unknown URL shows an error page', async () => {
  const page = await it.open();
  for (const path of ['nonsense', 'rules/nonsense', 'hooks/nonsense', 'settings/x']) {
    await visit(page, it.daemon, path, 'Page not found');
    await page.getByText(`#/${path}`).waitFor();
  }
  await accessible(page, 'not-found');
  await page.getByRole('main').getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  await page.goto(`${it.daemon.origin}/#/`);
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('messages have no raw backticks', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'hooks/templates', 'Hooks');
  await page.getByText('git commit', { exact: true }).waitFor();
  assert.equal((await page.getByRole('main').innerText()).includes('`'), false);
  const closed = await it.open({ link: `${it.daemon.origin}/#link=wrong`, expected: ['401', '403'] });
  await closed.getByRole('alert').waitFor();
  const said = await closed.getByRole('main').innerText();
  assert.ok(!said.includes('`') && !said.includes(' :'), said);
});

test('a hook that denies is named wherever the call is shown', async () => {
  const page = await it.open();
  await tool(it.daemon, 'by-hook', 'Bash', { command: 'docker ps' });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'All calls' }).click();
  const feed = page.getByRole('grid', { name: 'Live calls' });
  await feed.getByRole('gridcell', { name: 'hook:guard' }).waitFor();
  await visit(page, it.daemon, 'decisions?verdict=deny', 'Decisions');
  await page.getByRole('gridcell', { name: 'hook:guard' }).click();
  const drawer = page.getByRole('complementary');
  await drawer.getByRole('link', { name: 'hook:guard' }).click();
  await page.getByRole('complementary', { name: 'guard' }).waitFor();
  await page.goto(at(it.daemon, 'sessions/claude-code:by-hook'));
  const stopped = page.locator('section', { has: page.getByRole('heading', { name: 'Denied' }) });
  await stopped.getByText('hook:guard').waitFor();
  await page.getByRole('grid', { name: 'Timeline' }).getByRole('gridcell', { name: 'hook:guard' }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('a session no longer waits once its approval is answered', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'sessions', 'Sessions');
  const call = it.daemon.hook('codex', 'pre-tool-use', {
    session_id: 'waits',
    turn_id: 't',
    cwd: it.daemon.home,
    hook_event_name: 'PreToolUse',
    model: 'm',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'make all' },
    tool_use_id: 'u',
  });
  const row = page.getByRole('row', { name: /waits/ });
  await row.getByText('waiting').waitFor();
  const { pending } = (await it.daemon.ask('GET', '/v1/approvals')).json;
  await it.daemon.ask('POST', `/v1/approvals/${pending[0].id}`, { body: { answer: 'deny' } });
  await call;
  await row.getByText('active').waitFor({ timeout: 3000 });
  // The session's view shows the call with the rule that asked.
  await page.goto(at(it.daemon, 'sessions/codex:waits'));
  const asked = page.locator('section', { has: page.getByRole('heading', { name: 'Asked' }) });
  await asked.getByText('ask-make').waitFor();
  assert.deepEqual(page.wrong, []);
});

test('settings show the sizes of the database and of its journal', async () => {
  const page = await it.open({ path: '#/settings' });
  const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Retention' }) });
  await panel.getByText(/about [\d.]+ k?B per record/).waitFor();
  await panel.getByText('Journal', { exact: true }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('a missing script is shown, and the hook counts as broken', async () => {
  await claude(it.daemon, 'by-hook', 'SessionStart', { source: 'startup' });
  const page = await it.open();
  await health(page).getByText('healthy').waitFor();
  rmSync(script);
  await health(page).getByText('does not exist').waitFor({ timeout: 10_000 });
  await visit(page, it.daemon, 'hooks', 'Hooks');
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'guard' }) });
  await row.getByText('cannot run').waitFor();
  await row.getByText('does not exist').waitFor();
  await row.getByRole('link', { name: 'guard' }).click();
  await page.getByRole('complementary', { name: 'guard' }).getByText('This hook cannot run:').waitFor();
  await accessible(page, 'broken-hook');
  assert.deepEqual(page.wrong, []);
});
