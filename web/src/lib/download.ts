// SPDX-License-Identifier: Apache-2.0 OR MIT

// Downloads a response of the daemon as a file. The response is fetched by script, because a link cannot send the
// page key.

import { request } from './api/client';
import type { Operations } from './api/types';

export async function download(name: keyof Operations, query: Record<string, string>, file: string) {
  const response = await request(name, { query });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  [link.href, link.download] = [address, file];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
