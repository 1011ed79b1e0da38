// SPDX-License-Identifier: Apache-2.0 OR MIT

// Accessibility checks with axe.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const PICTURES = fileURLToPath(new URL('../out', import.meta.url));

/** Fails on serious findings of axe, in both themes, and keeps a screenshot of each. */
export async function accessible(page, what) {
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: `${PICTURES}/${what}-${theme}.png` });
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    const serious = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
    const told = serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`);
    assert.deepEqual(told, [], `${what}, ${theme}`);
  }
}
