// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "tenterhook";

/** A failed hook has no effect by default; `failBehavior` changes that. */
export function failures(client: TenterhookClient): void {
  // SDK handles reconnection automatically
  client.registerHook("PreToolUse", async (event) => {
    try {
      // Hook logic
      return { action: "continue" };
    } catch (error) {
      // Errors in hooks should not block execution by default
      console.error("Hook error:", error);
      return { action: "continue" };  // Fail-open
    }
  });

  // Or configure fail-close behavior
  client.registerHook("PreToolUse", {
    handler: async (event) => { /* ... */ },
    config: { failBehavior: "block" }  // Block on error
  });
}
