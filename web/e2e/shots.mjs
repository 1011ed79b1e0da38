// SPDX-License-Identifier: Apache-2.0 OR MIT

// Screenshots of every page at three widths in e2e/out for review. With SHOTS=docs, those of the guide too: the
// pictures of its text as PNG, and every page at every width as WebP.

import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toWebp } from './lib/browser.mjs';
import { claude, lived } from './lib/data.mjs';
import { at, pages, world } from './lib/world.mjs';

const OUT = fileURLToPath(new URL('./out/', import.meta.url));
const DOCS = fileURLToPath(new URL('../../docs/assets/', import.meta.url));
const WIDTHS = [390, 1024, 1440];
const GUIDE_PICTURES = ['now', 'session', 'decision'];
const isForDocs = process.env.SHOTS === 'docs';

const POLICY = `version: 1
rules:
  - {id: ask-deploy, match: {shell: {program: [deploy]}}, verdict: ask, reason: A person starts each deployment.}
`;

const it = world(async (daemon) => {
  writeFileSync(`${daemon.home}/th/policy.yaml`, POLICY);
  const session = await lived(daemon);
  const call = { tool_name: 'Bash', tool_input: { command: 'make check' }, tool_use_id: 'toolu_failing' };
  await claude(daemon, session, 'PreToolUse', call);
  await claude(daemon, session, 'PostToolUseFailure', {
    ...call,
    error: 'exit code 2: 1 of 214 tests failed',
  });
  return session;
});

/** A call of Codex, which waits for an approval while the pictures are taken. */
const waitingCall = (daemon) =>
  daemon.hook('codex', 'pre-tool-use', {
    session_id: 'release',
    turn_id: 't',
    cwd: '/home/dev/shop',
    hook_event_name: 'PreToolUse',
    model: 'gpt-5-codex',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'deploy --stage production shop' },
    tool_use_id: 'u',
  });

async function shotsOf(page) {
  const session = encodeURIComponent(`claude-code:${it.made}`);
  const { lines } = (await it.daemon.ask('GET', '/v1/ledger/lines?verdict=deny&harness=claude-code')).json;
  return [
    ...(await pages(page)).filter(({ path }) => path !== 'approvals').map(({ path }) => [path, path]),
    ['session', `sessions/${session}`],
    ['calls', 'decisions?show=all'],
    ['decision', `decisions?verdict=deny&leaf=${lines.at(-1).seq}`],
    ['rule', 'rules?rule=recursive-delete'],
    ['new-rule', 'rules/new'],
  ];
}

for (const colorScheme of ['light', 'dark']) {
  test(`pictures of every page, ${colorScheme}`, async () => {
    for (const folder of [OUT, `${DOCS}dashboard/`]) mkdirSync(folder, { recursive: true });
    for (const width of WIDTHS) {
      const page = await it.open({ colorScheme, viewport: { width, height: width < 500 ? 844 : 900 } });
      const take = async (name, path) => {
        await page.goto(at(it.daemon, path));
        await page.getByText('Loading the rules…').waitFor({ state: 'detached', timeout: 20_000 });
        await page.waitForTimeout(name === 'harnesses' ? 3000 : 1200);
        const png = await page.screenshot({ path: `${OUT}${name}-${width}-${colorScheme}.png` });
        if (!isForDocs || colorScheme !== 'light') return;
        writeFileSync(`${DOCS}dashboard/${name}-${width}.webp`, await toWebp(it.browser, png));
        if (width === 1440 && GUIDE_PICTURES.includes(name))
          writeFileSync(`${DOCS}dashboard-${name}.png`, png);
      };
      for (const [name, path] of await shotsOf(page)) await take(name, path);
      const waits = waitingCall(it.daemon);
      await take('approvals', 'approvals');
      const { pending } = (await it.daemon.ask('GET', '/v1/approvals')).json;
      await it.daemon.ask('POST', `/v1/approvals/${pending[0].id}`, { body: { answer: 'deny' } });
      await waits;
      await page.context().close();
    }
  });
}
