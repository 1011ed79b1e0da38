// SPDX-License-Identifier: Apache-2.0 OR MIT

// A daemon and a browser for the tests of a file. Both end with these tests.

import { after, before } from 'node:test';
import { launch, open } from './browser.mjs';
import { Daemon } from './daemon.mjs';

/** Starts both before the tests of a file; `fill` creates the data. The options are those of the daemon. */
export function world(fill = async () => {}, options = {}) {
  const it = {
    /** Opens a new page that is signed in. */
    open: (options) => open(it.browser, it.daemon, options),
  };
  before(async () => {
    it.daemon = await Daemon.start(options);
    it.browser = await launch();
    it.made = await fill(it.daemon);
  });
  after(async () => {
    await it.browser?.close();
    await it.daemon?.stop();
  });
  return it;
}

/** URL of a page. */
export const at = (daemon, path) => `${daemon.origin}/#/${path}`;

/** Every page of the navigation. */
export async function pages(page) {
  const links = await page.getByRole('navigation').locator('ul a').all();
  return Promise.all(
    links.map(async (link) => ({
      path: (await link.getAttribute('href')).slice(2),
      name: await link.locator('.word').innerText(),
    })),
  );
}

/** Opens a page and waits until it is shown. */
export async function visit(page, daemon, path, heading) {
  await page.goto(at(daemon, path));
  await page.getByRole('heading', { level: 1, ...(heading ? { name: heading } : {}) }).waitFor();
}
