// SPDX-License-Identifier: Apache-2.0 OR MIT

// A short look at everything: part of `make test`.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './lib/browser.mjs';
import { Daemon } from './lib/daemon.mjs';

let daemon;
let browser;

before(async () => {
  [daemon, browser] = [await Daemon.start(), await launch()];
});

after(async () => {
  await browser?.close();
  await daemon?.stop();
});

test('every page opens, and nothing goes wrong on it', async () => {
  const page = await open(browser, daemon);
  const names = await page.getByRole('navigation').getByRole('link').allInnerTexts();
  assert.ok(names.length >= 9, names.join());
  for (const name of names.slice(1)) {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  assert.deepEqual(page.wrong, []);
});
