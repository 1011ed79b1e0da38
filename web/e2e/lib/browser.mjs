// SPDX-License-Identifier: Apache-2.0 OR MIT

// Chromium of Debian, with pages that record errors.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PROGRAM =
  process.env.CHROMIUM ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export function launch() {
  if (!PROGRAM)
    throw new Error(
      'there is no Chromium; `sh web/e2e/install-chromium.sh` installs it, or say where it is in CHROMIUM',
    );
  // Chromium's sandbox does not start as root, which CI machines may use.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: PROGRAM, args });
}

/** Opens a page in a new context. Errors are collected in `page.wrong`. */
export async function open(
  browser,
  daemon,
  { link = daemon.link(), path = '', expected = [], ...options } = {},
) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.wrong = [];
  const note = (text) => {
    if (!expected.some((known) => text.includes(known))) page.wrong.push(text);
  };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      note(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => note(`thrown: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(daemon.origin) && !request.url().startsWith('data:'))
      note(`asked elsewhere: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  if (link) await page.goto(link);
  if (path) await page.goto(`${daemon.origin}/${path}`);
  return page;
}

/** Converts a picture to WebP in a browser, so that no other program is needed. */
export async function toWebp(browser, png) {
  const page = await browser.newPage();
  try {
    const data = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext('2d').drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', 0.75).split(',')[1];
    }, png.toString('base64'));
    return Buffer.from(data, 'base64');
  } finally {
    await page.close();
  }
}
