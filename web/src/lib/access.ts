// SPDX-License-Identifier: Apache-2.0 OR MIT

// Sign-in: a one-time link is exchanged for a cookie, which scripts cannot read, and a page key.

import { call, pageKey } from './api/client';

/** Signs in with a link, or checks the existing session. */
export async function enter(link?: string): Promise<void> {
  if (link) {
    const { key } = await call('openDashboard', { body: { link } });
    pageKey.set(key);
  } else {
    await call('getDashboard', {});
  }
}

/** Signs out. */
export async function leave(): Promise<void> {
  await call('leaveDashboard', {});
  pageKey.forget();
  location.reload();
}
