// SPDX-License-Identifier: Apache-2.0 OR MIT

// How it looks to people: both themes, from a phone to a wall, with a screen reader.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { lived } from './lib/data.mjs';
import { at, pages, world } from './lib/world.mjs';

const it = world(lived);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a screen reader or weak eyes would stumble over. */
async function problems(page) {
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
    }));
  });
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

for (const colorScheme of ['light', 'dark']) {
  test(`no serious problem of accessibility, ${colorScheme}`, async () => {
    // The tool is put into the page from outside, which the page's own policy would not allow.
    const page = await it.open({ colorScheme, bypassCSP: true });
    const session = encodeURIComponent(`claude-code:${it.made}`);
    const all = (await pages(page)).map(({ path }) => path);
    for (const path of [...all, `sessions/${session}`, 'decisions?verdict=deny&leaf=2']) {
      await page.goto(at(it.daemon, path));
      await page.waitForTimeout(600);
      await page.addScriptTag({ content: AXE });
      assert.deepEqual(await problems(page), [], path);
    }
  });
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
