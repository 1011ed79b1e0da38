// SPDX-License-Identifier: Apache-2.0 OR MIT

// Types from the documents of other hook systems, which ours are compatible with. The compiler is the test.

import type * as ours from "tenterhook";
import { expectTypeOf, test } from "vitest";

type HookEventType = ours.HookEventType;
type ToolArgs = ours.ToolArgs;
type TokenUsage = ours.TokenUsage;
type ModelConfig = ours.ModelConfig;
type ToolCall = ours.ToolCall;
type ModifiedData = ours.ModifiedData;

// === The hook design of A3S Box ===

interface HookEvent {
  eventType: HookEventType;
  sessionId: string;
  timestamp: number;
  metadata: Record<string, unknown>;
}

interface PreToolUseEvent extends HookEvent {
  eventType: "PreToolUse";
  tool: string; // "Bash", "Write", "Edit", etc.
  args: ToolArgs; // Tool-specific arguments
  context: {
    workingDirectory: string;
    recentTools: string[];
    tokenUsage: TokenUsage;
  };
}

interface PostToolUseEvent extends HookEvent {
  eventType: "PostToolUse";
  tool: string;
  args: ToolArgs;
  result: {
    success: boolean;
    output: string;
    exitCode?: number;
    duration: number;
  };
}

interface GenerateStartEvent extends HookEvent {
  eventType: "GenerateStart";
  prompt: string;
  systemPrompt?: string;
  model: ModelConfig;
  tools: string[]; // Available tools
}

interface GenerateEndEvent extends HookEvent {
  eventType: "GenerateEnd";
  prompt: string;
  response: {
    text: string;
    toolCalls: ToolCall[];
    usage: TokenUsage;
    duration: number;
  };
}

type HookResponse =
  | { action: "continue" } // Proceed normally
  | { action: "continue"; modified: ModifiedData } // Proceed with modifications
  | { action: "block"; reason: string } // Stop execution
  | { action: "retry"; delay?: number } // Retry after delay
  | { action: "skip" }; // Skip this hook only

// seed: 003-018, 003-019, 003-020, 003-021, 003-022, 003-023, 003-027, 003-028, 003-029, 003-031
test("events have all fields of the hook design, and its responses are accepted", () => {
  expectTypeOf<ours.HookEvent>().toExtend<HookEvent>();
  expectTypeOf<ours.PreToolUseEvent>().toExtend<PreToolUseEvent>();
  expectTypeOf<ours.PostToolUseEvent>().toExtend<PostToolUseEvent>();
  expectTypeOf<ours.GenerateStartEvent>().toExtend<GenerateStartEvent>();
  expectTypeOf<ours.GenerateEndEvent>().toExtend<GenerateEndEvent>();
  expectTypeOf<HookResponse>().toExtend<ours.HookResponse>();
});

test("invalid hooks are compile errors", () => {
  const client = {} as Pick<ours.TenterhookClient, "registerHook">;
  const never = () => {
    // @ts-expect-error: there is no such event
    client.registerHook("PreTool", () => {});
    // @ts-expect-error: there is no such action
    client.registerHook("PreToolUse", () => ({ action: "deny" }));
    // @ts-expect-error: a block has a reason
    client.registerHook("PreToolUse", () => ({ action: "block" }));
    // @ts-expect-error: a tool's arguments cannot be changed after the fact
    client.registerHook("PostToolUse", () => ({ action: "continue", modified: { args: {} } }));
  };
  expectTypeOf(never).toBeFunction();
});

// === The callbacks of the Claude Agent SDK ===

interface PreToolUseHookInput {
  hook_event_name: "PreToolUse";
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
}

interface PostToolUseHookInput {
  hook_event_name: "PostToolUse";
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  tool_name: string;
  tool_input: unknown;
  tool_response: unknown;
  tool_use_id: string;
}

interface SubagentStopHookInput {
  hook_event_name: "SubagentStop";
  session_id: string;
  transcript_path: string;
  cwd: string;
  stop_hook_active: boolean;
  agent_id: string;
  agent_transcript_path: string;
}

interface UserPromptSubmitHookInput {
  hook_event_name: "UserPromptSubmit";
  session_id: string;
  transcript_path: string;
  cwd: string;
  prompt: string;
}

interface SessionStartHookInput {
  hook_event_name: "SessionStart";
  session_id: string;
  transcript_path: string;
  cwd: string;
  source: "startup" | "resume" | "clear" | "compact";
}

interface SessionEndHookInput {
  hook_event_name: "SessionEnd";
  session_id: string;
  transcript_path: string;
  cwd: string;
  reason: string; // Exit reason
}

interface StopHookInput {
  hook_event_name: "Stop";
  session_id: string;
  transcript_path: string;
  cwd: string;
  stop_hook_active: boolean;
}

interface PreCompactHookInput {
  hook_event_name: "PreCompact";
  session_id: string;
  transcript_path: string;
  cwd: string;
  trigger: "manual" | "auto";
  custom_instructions: string | null;
}

interface AsyncHookJSONOutput {
  async: true;
  asyncTimeout?: number; // Override timeout
}

type HookSpecificOutput =
  | {
      hookEventName: "PreToolUse";
      permissionDecision?: "allow" | "deny" | "ask";
      permissionDecisionReason?: string;
      updatedInput?: Record<string, unknown>; // Modify tool input
    }
  | {
      hookEventName: "PostToolUse";
      additionalContext?: string;
      updatedMCPToolOutput?: unknown; // Modify MCP tool output
    }
  | {
      hookEventName: "UserPromptSubmit";
      additionalContext?: string; // Add context to prompt
    };

interface SyncHookJSONOutput {
  continue?: boolean; // Continue execution
  suppressOutput?: boolean; // Hide from output
  stopReason?: string; // Reason if stopping
  decision?: "approve" | "block";
  systemMessage?: string; // Add system message
  reason?: string; // Reason for decision
  hookSpecificOutput?: HookSpecificOutput;
}

type HookInput = ours.ClaudeHookInput;
type HookJSONOutput = SyncHookJSONOutput | AsyncHookJSONOutput;

type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

// seed: 000-018, 000-019, 000-020, 000-021, 000-022, 000-023, 000-024, 000-025, 000-026
test("callbacks receive all inputs of the document and may return all its outputs", () => {
  expectTypeOf<ours.PreToolUseHookInput>().toExtend<PreToolUseHookInput>();
  expectTypeOf<ours.PostToolUseHookInput>().toExtend<PostToolUseHookInput>();
  expectTypeOf<ours.SubagentStopHookInput>().toExtend<SubagentStopHookInput>();
  expectTypeOf<ours.UserPromptSubmitHookInput>().toExtend<UserPromptSubmitHookInput>();
  // Since then a session can also come from a fork.
  expectTypeOf<SessionStartHookInput>().toExtend<ours.SessionStartHookInput>();
  expectTypeOf<ours.SessionEndHookInput>().toExtend<SessionEndHookInput>();
  expectTypeOf<ours.StopHookInput>().toExtend<StopHookInput>();
  expectTypeOf<ours.PreCompactHookInput>().toExtend<PreCompactHookInput>();
  expectTypeOf<SyncHookJSONOutput>().toExtend<ours.SyncHookJSONOutput>();
  expectTypeOf<AsyncHookJSONOutput>().toExtend<ours.AsyncHookJSONOutput>();
  expectTypeOf<HookCallback>().toExtend<ours.ClaudeHookCallback<"PreToolUse">>();
});
