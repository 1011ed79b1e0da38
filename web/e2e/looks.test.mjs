// SPDX-License-Identifier: Apache-2.0 OR MIT

// Appearance and accessibility: both themes, all screen sizes, screen readers.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lived } from './lib/data.mjs';
import { at, pages, world } from './lib/world.mjs';

const it = world(lived);
const PICTURES = fileURLToPath(new URL('./out', import.meta.url));
mkdirSync(PICTURES, { recursive: true });
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Accessibility problems of a page. */
async function problems(page) {
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
    }));
  });
  // axe rates headers without text as minor, but a screen reader then announces nothing for their cells.
  return found.filter(
    ({ id, impact }) => ['serious', 'critical'].includes(impact) || id === 'empty-table-header',
  );
}

/** Pages with details or in another state, in addition to those of the navigation. */
const more = (session) => [
  `sessions/${session}`,
  'decisions?show=all',
  'decisions?show=records&since=all&leaf=2',
  'rules?rule=recursive-delete',
  'rules/new',
  'hooks/templates',
  'hooks/build',
];

for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [
    [390, 844],
    [1024, 768],
    [1440, 900],
  ]) {
    test(`no serious accessibility problem, ${colorScheme}, ${width} pixels`, async () => {
      // axe is injected from outside, which the page's own policy would not allow.
      const page = await it.open({ colorScheme, bypassCSP: true, viewport: { width, height } });
      const all = (await pages(page)).map(({ path }) => path);
      for (const path of [...all, ...more(encodeURIComponent(`claude-code:${it.made}`))]) {
        await page.goto(at(it.daemon, path));
        await page.getByText('Loading the rules…').waitFor({ state: 'detached', timeout: 20_000 });
        await page.waitForTimeout(600);
        await page.addScriptTag({ content: AXE });
        assert.deepEqual(await problems(page), [], path);
      }
    });
  }
}

test('the theme follows the system, and can be chosen', async () => {
  const page = await it.open({ colorScheme: 'dark' });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  assert.equal(await theme(), 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
  const button = page.getByRole('button', { name: /Theme/ });
  await button.click();
  await button.click();
  assert.equal(await theme(), 'dark');
  await page.reload();
  assert.equal(await theme(), 'dark', 'it is remembered');
  assert.deepEqual(page.wrong, []);
});

for (const [width, height] of [
  [400, 800],
  [3840, 2160],
]) {
  test(`nothing is cut off at ${width} pixels`, async () => {
    const page = await it.open({ viewport: { width, height } });
    const session = encodeURIComponent(`claude-code:${it.made}`);
    for (const path of [
      ...(await pages(page)).map((one) => one.path),
      `sessions/${session}`,
      'decisions?leaf=2',
    ]) {
      await page.goto(at(it.daemon, path));
      await page.waitForTimeout(400);
      const over = await page.evaluate(() => {
        const main = document.querySelector('main');
        return Math.max(
          document.documentElement.scrollWidth - innerWidth,
          main.scrollWidth - main.clientWidth,
        );
      });
      assert.ok(over <= 1, `${path}: ${over} pixels too wide`);
    }
    assert.deepEqual(page.wrong, []);
  });
}

/** Texts and fields that leave the panel they are in, and parts of the page's header that overlap. */
function misplaced() {
  const found = [];
  const clips = (node) => getComputedStyle(node).overflowX !== 'visible';
  for (const panel of document.querySelectorAll('main section')) {
    const edge = panel.getBoundingClientRect().right + 1;
    for (const node of panel.querySelectorAll('*')) {
      if (node.getBoundingClientRect().right <= edge) continue;
      let parent = node.parentElement;
      while (parent !== panel && !clips(parent)) parent = parent.parentElement;
      if (parent === panel && !node.closest('.hidden-text'))
        found.push(`leaves its panel: ${node.outerHTML.slice(0, 120)}`);
    }
  }
  const header = document.querySelector('main header');
  const boxes = [...header.querySelectorAll('h1, p, span, select, input, a, button')].map((node) => ({
    node,
    box: node.getBoundingClientRect(),
  }));
  for (const { node } of boxes)
    if (!node.closest('.hidden-text') && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0)
      found.push(`runs over: ${node.outerHTML.slice(0, 80)}`);
  for (const one of boxes)
    for (const other of boxes) {
      const apart = one.node === other.node || one.node.contains(other.node) || other.node.contains(one.node);
      const [a, b] = [one.box, other.box];
      const over = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1;
      if (!apart && over && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
        found.push(`overlap: ${one.node.outerHTML.slice(0, 80)} and ${other.node.outerHTML.slice(0, 80)}`);
    }
  for (const field of document.querySelectorAll('main input:not([type=checkbox]), main select'))
    if (field.offsetWidth < 60) found.push(`${field.offsetWidth} px wide: ${field.outerHTML.slice(0, 80)}`);
  const about = document.querySelector('main header p');
  if (about && about.offsetHeight > 100) found.push(`a subtitle of ${about.offsetHeight} px`);
  return found;
}

for (const [width, height] of [
  [390, 844],
  [1440, 900],
]) {
  test(`nothing overlaps or leaves its panel at ${width} pixels`, async () => {
    const page = await it.open({ viewport: { width, height } });
    const session = encodeURIComponent(`claude-code:${it.made}`);
    // A state directory can have a long path.
    await page.route('**/v1/ledger/key', async (route) => {
      const response = await route.fetch();
      const file = `/home/${'somebody-with-a-long-name/'.repeat(4)}ledger/key`;
      await route.fulfill({ response, json: { ...(await response.json()), file } });
    });
    const all = (await pages(page)).map(({ path }) => path);
    for (const path of [...all, 'rules/new', 'hooks/templates', 'hooks/build', `sessions/${session}`]) {
      await page.goto(at(it.daemon, path));
      const content = path === 'approvals' ? 'main .list' : 'main section, main [role="grid"]';
      await page.locator(content).first().waitFor({ timeout: 20_000 });
      await page.waitForTimeout(600);
      assert.deepEqual(await page.evaluate(misplaced), [], path);
      const shown = path.startsWith('sessions/') ? 'session' : path.replace('/', '-');
      await page.screenshot({ path: `${PICTURES}/${shown}-${width}.png` });
    }
    assert.deepEqual(page.wrong, []);
  });
}

test('the events of a harness fit the page', async () => {
  const page = await it.open({ path: '#/harnesses', viewport: { width: 1440, height: 900 } });
  const card = page.locator('section', { has: page.getByRole('heading', { name: 'Claude Code' }) });
  await card.locator('summary').click({ timeout: 20_000 });
  const table = await card
    .getByRole('region')
    .evaluate((box) => [box.scrollWidth, box.clientWidth, innerWidth]);
  assert.ok(table[0] <= table[1] && table[1] > table[2] / 2, table.join());
  await page.screenshot({ path: `${PICTURES}/harness-open-1440.png` });
  assert.deepEqual(page.wrong, []);
});
