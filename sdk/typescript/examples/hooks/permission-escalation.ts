// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "tenterhook";

/** Asks the user, in the way of your program. */
export type Dialog = (question: { title: string; message: string; timeout: number }) => Promise<boolean>;

export function permissionEscalation(client: TenterhookClient, showConfirmationDialog: Dialog): void {
  // Require explicit confirmation for sensitive operations
  client.registerHook("PermissionRequest", {
    handler: async (event) => {
      const sensitiveTools = ["Bash", "Write", "Edit"];

      if (sensitiveTools.includes(event.tool)) {
        // Show custom confirmation UI
        const confirmed = await showConfirmationDialog({
          title: `Allow ${event.tool}?`,
          message: `The agent wants to execute: ${JSON.stringify(event.args)}`,
          timeout: 30000
        });

        if (!confirmed) {
          return { action: "block", reason: "User denied permission" };
        }
      }

      return { action: "continue" };
    },
    // Longer than the dialog: without it the hook fails after 5 seconds, and a failed hook does not block.
    config: { timeout: 35000, failBehavior: "block" }
  });
}
