// SPDX-License-Identifier: Apache-2.0 OR MIT

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^tenterhook$/, replacement: here("src/index.ts") },
      { find: /^tenterhook\/llxprt$/, replacement: here("src/llxprt/index.ts") },
    ],
  },
  // Node 20 has no `await using`.
  oxc: { target: "es2022" },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // A daemon on a busy machine can take longer than the default of one second.
    expect: { poll: { timeout: 10_000 } },
  },
});
