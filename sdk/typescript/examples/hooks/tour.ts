// SPDX-License-Identifier: Apache-2.0 OR MIT

// Everything that a client can do with hooks, step by step. The client finds the daemon in `$TENTERHOOK_HOME`, else in
// the default state directory of the platform.

import { type PreToolUseEvent, TenterhookClient, HookEvent, HookResponse } from "tenterhook";

const client = new TenterhookClient();

// Register a hook with async handler
client.registerHook("PreToolUse", async (event: PreToolUseEvent): Promise<HookResponse> => {
  // Block dangerous bash commands
  if (event.tool === "Bash") {
    const command = event.args.command as string;
    if (command.includes("rm -rf /") || command.includes(":(){ :|:& };:")) {
      return {
        action: "block",
        reason: "Dangerous command blocked by security policy"
      };
    }
  }
  return { action: "continue" };
});

// Register hook with matcher pattern
client.registerHook("PreToolUse", {
  matcher: { tool: "Write", pathPattern: "*.env" },
  handler: async (event) => {
    // Validate .env file changes
    const content = event.args.content as string;
    if (content.includes("API_KEY=")) {
      return { action: "block", reason: "Cannot write API keys to .env files" };
    }
    return { action: "continue" };
  }
});

// Modify tool inputs
client.registerHook("PreToolUse", {
  matcher: { tool: "Bash" },
  handler: async (event) => {
    // Add timeout to all bash commands
    const command = event.args.command as string;
    return {
      action: "continue",
      modified: {
        args: { ...event.args, timeout: 30000 }
      }
    };
  }
});

// Post-execution hooks
client.registerHook("PostToolUse", {
  matcher: { tool: "Write", pathPattern: "*.rs" },
  handler: async (event) => {
    if (event.result.success) {
      // Run rustfmt after writing Rust files
      await client.executeTool(event.sessionId, "Bash", {
        command: `rustfmt ${event.args.file_path}`
      });
    }
    return { action: "continue" };
  }
});

// Multiple hooks for same event (run in parallel)
client.registerHook("GenerateEnd", async (event) => {
  // Log to external system
  await fetch("https://metrics.example.com/log", {
    method: "POST",
    body: JSON.stringify({ session: event.sessionId, usage: event.response.usage })
  });
  return { action: "continue" };
});

const handler = async (event: HookEvent): Promise<HookResponse> => {
  return { action: "block", reason: `nobody should be asked about ${event.eventType}` };
};

// Unregister hooks
const hookId = client.registerHook("PreToolUse", handler);
client.unregisterHook(hookId);

// List registered hooks
const hooks = client.listHooks();

export { client, hookId, hooks };
