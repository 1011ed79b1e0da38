// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ToolInput } from "./input.js";

/** What a callback answers. */
export type HookJSONOutput = SyncHookJSONOutput | AsyncHookJSONOutput;

/** An answer for now. */
export interface SyncHookJSONOutput {
  /** False: the agent ends its turn. At `PreToolUse` the tool does not run either. */
  continue?: boolean;
  suppressOutput?: boolean;
  stopReason?: string;
  decision?: "approve" | "block";
  systemMessage?: string;
  reason?: string;
  hookSpecificOutput?: HookSpecificOutput;
}

/** The callback goes on by itself; what it finds does not count. */
export interface AsyncHookJSONOutput {
  async: true;
  /** In milliseconds. */
  asyncTimeout?: number;
}

export interface PreToolUseSpecificOutput {
  hookEventName: "PreToolUse";
  permissionDecision?: "allow" | "deny" | "ask" | "defer";
  permissionDecisionReason?: string;
  /** Takes the place of the tool's input, whole. Tenterhook judges it before it runs. */
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

/** Any other event's. */
export interface OtherSpecificOutput {
  hookEventName: string;
}

/** What an answer says that only this event has. */
export type HookSpecificOutput =
  | PreToolUseSpecificOutput
  | PostToolUseSpecificOutput
  | UserPromptSubmitSpecificOutput
  | PermissionRequestSpecificOutput
  | OtherSpecificOutput;
