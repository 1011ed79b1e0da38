// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "tenterhook";

/** Settings of one hook, and how much is recorded about all hooks. */
export function settings(client: TenterhookClient): void {
  client.registerHook("PreToolUse", {
    handler: async (event) => { /* ... */ },
    config: {
      priority: 10,        // Lower = earlier
      timeout: 3000,       // 3 seconds
      async: false,        // Wait for response
      failBehavior: "block"
    }
  });

  // Enable hook audit logging
  client.setHookAuditLevel("verbose");

  // Events logged:
  // - Hook registered/unregistered
  // - Hook execution started/completed
  // - Hook blocked an operation
  // - Hook modified inputs
}
