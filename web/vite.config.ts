// SPDX-License-Identifier: Apache-2.0 OR MIT

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

/** Address of the daemon for `npm run dev`. */
const DAEMON = 'http://127.0.0.1:7878';

// The pages of a fleet are a build of their own (`--mode fleet`): with common chunks, they would add to the first load of
// the pages of a machine.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The page's policy allows no `data:` scripts, and small files cost nothing on localhost.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The daemon serves index.html, a fleet server fleet.html.
    rolldownOptions: { input: mode === 'fleet' ? 'fleet.html' : 'index.html' },
    emptyOutDir: mode !== 'fleet',
  },
  server: { host: '127.0.0.1', proxy: { '/v1': { target: DAEMON, changeOrigin: true } } },
  test: { include: ['test/**/*.test.ts'], environment: 'node' },
}));
