// SPDX-License-Identifier: Apache-2.0 OR MIT

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

/** Where `npm run dev` finds a daemon. */
const DAEMON = 'http://127.0.0.1:7878';

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The policy of the page allows no data: scripts, and a small file costs nothing on localhost.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { host: '127.0.0.1', proxy: { '/v1': { target: DAEMON, changeOrigin: true } } },
  test: { include: ['test/**/*.test.ts'], environment: 'node' },
});
