// SPDX-License-Identifier: Apache-2.0 OR MIT

// Screenshots of every page in e2e/out for review; with SHOTS=docs also those of the guide.

import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lived } from './lib/data.mjs';
import { at, pages, world } from './lib/world.mjs';

const OUT = fileURLToPath(new URL('./out/', import.meta.url));
const DOCS = fileURLToPath(new URL('../../docs/assets/', import.meta.url));
const it = world(lived);

for (const colorScheme of ['light', 'dark']) {
  test(`pictures of every page, ${colorScheme}`, async () => {
    mkdirSync(OUT, { recursive: true });
    const page = await it.open({ colorScheme, viewport: { width: 1280, height: 800 } });
    const session = encodeURIComponent(`claude-code:${it.made}`);
    const { lines } = (await it.daemon.ask('GET', '/v1/ledger/lines?verdict=deny&harness=claude-code')).json;
    const shots = [
      ...(await pages(page)).map(({ path }) => [path, path]),
      ['session', `sessions/${session}`],
      ['decision', `decisions?verdict=deny&leaf=${lines.at(-1).seq}`],
    ];
    for (const [name, path] of shots) {
      await page.goto(at(it.daemon, path));
      await page.waitForTimeout(900);
      await page.screenshot({ path: `${OUT}${name}-${colorScheme}.png` });
      if (
        process.env.SHOTS === 'docs' &&
        colorScheme === 'light' &&
        ['now', 'session', 'decision'].includes(name)
      ) {
        await page.screenshot({ path: `${DOCS}dashboard-${name}.png` });
      }
    }
  });
}
