// SPDX-License-Identifier: Apache-2.0 OR MIT

// Who may look: a one-time link becomes a cookie, which the page cannot read, and a key of the page.

import { call, pageKey } from './api/client';

/** Comes in with a link, or with what an earlier one left. */
export async function enter(link?: string): Promise<void> {
  if (link) {
    const { key } = await call('openDashboard', { body: { link } });
    pageKey.set(key);
  } else {
    await call('getDashboard', {});
  }
}

/** Leaves: the daemon forgets this browser. */
export async function leave(): Promise<void> {
  await call('leaveDashboard', {});
  pageKey.forget();
  location.reload();
}
