// SPDX-License-Identifier: Apache-2.0 OR MIT

// A daemon, a browser, and what is looked at in both; they end with the tests of the file.

import { after, before } from 'node:test';
import { launch, open } from './browser.mjs';
import { Daemon } from './daemon.mjs';

/** Starts both before the tests of a file; `fill` makes what they look at. */
export function world(fill = async () => {}) {
  const it = {
    /** A page of its own, let in. */
    open: (options) => open(it.browser, it.daemon, options),
  };
  before(async () => {
    it.daemon = await Daemon.start();
    it.browser = await launch();
    it.made = await fill(it.daemon);
  });
  after(async () => {
    await it.browser?.close();
    await it.daemon?.stop();
  });
  return it;
}

/** The address of a page. */
export const at = (daemon, path) => `${daemon.origin}/#/${path}`;

/** Every page that the navigation leads to. */
export async function pages(page) {
  const links = await page.getByRole('navigation').locator('ul a').all();
  return Promise.all(
    links.map(async (link) => ({
      path: (await link.getAttribute('href')).slice(2),
      name: await link.locator('.word').innerText(),
    })),
  );
}

/** Goes to a page and waits until it is there. */
export async function visit(page, daemon, path, heading) {
  await page.goto(at(daemon, path));
  await page.getByRole('heading', { level: 1, ...(heading ? { name: heading } : {}) }).waitFor();
}
