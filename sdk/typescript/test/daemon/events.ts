// SPDX-License-Identifier: Apache-2.0 OR MIT

// Events that tests fire.

import type { FiredEvent, ToolArgs, ToolResult } from "tenterhook";

const sessionId = "session-1";

export const pre = (tool: string, args: ToolArgs): FiredEvent => ({ eventType: "PreToolUse", sessionId, tool, args });

export const bash = (command: string): FiredEvent => pre("Bash", { command });

export const post = (tool: string, args: ToolArgs, result: Partial<ToolResult> = {}): FiredEvent => ({
  eventType: "PostToolUse",
  sessionId,
  tool,
  args,
  result: { success: true, output: "", duration: 1, ...result },
});

export const permission = (tool: string, args: ToolArgs): FiredEvent => ({
  eventType: "PermissionRequest",
  sessionId,
  tool,
  args,
});

export const generated = (model: string, total_tokens: number): FiredEvent => ({
  eventType: "GenerateEnd",
  sessionId,
  prompt: "p",
  model: { name: model },
  response: {
    text: "t",
    toolCalls: [],
    usage: { input_tokens: 0, output_tokens: total_tokens, total_tokens },
    duration: 5,
  },
});
