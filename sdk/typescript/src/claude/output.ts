// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ToolInput } from "./input.js";

/** The answer of a callback. */
export type HookJSONOutput = SyncHookJSONOutput | AsyncHookJSONOutput;

/** An immediate answer. */
export interface SyncHookJSONOutput {
  /** If false, the agent ends its turn. In `PreToolUse`, the tool does not run either. */
  continue?: boolean;
  suppressOutput?: boolean;
  stopReason?: string;
  decision?: "approve" | "block";
  systemMessage?: string;
  reason?: string;
  hookSpecificOutput?: HookSpecificOutput;
}

/** The callback continues in the background; its result is ignored. */
export interface AsyncHookJSONOutput {
  async: true;
  /** Time limit in milliseconds. */
  asyncTimeout?: number;
}

export interface PreToolUseSpecificOutput {
  hookEventName: "PreToolUse";
  permissionDecision?: "allow" | "deny" | "ask" | "defer";
  permissionDecisionReason?: string;
  /** Replaces the complete input of the tool. Tenterhook checks the new input before the tool runs. */
  updatedInput?: ToolInput;
  additionalContext?: string;
}

export interface PostToolUseSpecificOutput {
  hookEventName: "PostToolUse";
  additionalContext?: string;
  updatedToolOutput?: unknown;
  updatedMCPToolOutput?: unknown;
}

export interface UserPromptSubmitSpecificOutput {
  hookEventName: "UserPromptSubmit";
  additionalContext?: string;
}

export interface PermissionRequestSpecificOutput {
  hookEventName: "PermissionRequest";
  decision:
    | { behavior: "allow"; updatedInput?: ToolInput; updatedPermissions?: unknown[] }
    | { behavior: "deny"; message?: string; interrupt?: boolean };
}

/** `hookSpecificOutput` of any other event. */
export interface OtherSpecificOutput {
  hookEventName: string;
}

/** The event-specific part of an answer. */
export type HookSpecificOutput =
  | PreToolUseSpecificOutput
  | PostToolUseSpecificOutput
  | UserPromptSubmitSpecificOutput
  | PermissionRequestSpecificOutput
  | OtherSpecificOutput;
