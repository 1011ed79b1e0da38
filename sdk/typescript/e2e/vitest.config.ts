// SPDX-License-Identifier: Apache-2.0 OR MIT

import { defineConfig, mergeConfig } from "vitest/config";
import unit from "../vitest.config.js";

const agentSdk = `${process.env.TENTERHOOK_AGENT_SDK}/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs`;

export default mergeConfig(
  { ...unit, test: {} },
  defineConfig({
    resolve: { alias: [{ find: "@anthropic-ai/claude-agent-sdk", replacement: agentSdk }] },
    // Each test runs the client; two in parallel are slower than one after the other.
    test: { include: ["e2e/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 60_000, fileParallelism: false },
  }),
);
