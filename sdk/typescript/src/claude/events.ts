// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookEvent } from "./input.js";

/**
 * The events that are sent to Tenterhook. Not included: `WorktreeCreate` and `WorktreeRemove` (a hook for them
 * replaces the work of git), `FileChanged` (fires only for file names given as a matcher) and `MessageDisplay` (fires
 * for every chunk of text).
 */
export const GUARDED_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "PermissionRequest",
  "PermissionDenied",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "SessionStart",
  "SessionEnd",
  "Stop",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "PreModelSwitch",
  "PostModelSwitch",
  "Notification",
  "Setup",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "Elicitation",
  "ElicitationResult",
  "ConfigChange",
  "InstructionsLoaded",
  "CwdChanged",
  "DirectoryAdded",
] as const satisfies readonly ClaudeHookEvent[];

/** Events before an action: if Tenterhook cannot be reached, the action is blocked. */
export const GATES: ReadonlySet<ClaudeHookEvent> = new Set<ClaudeHookEvent>([
  "PreToolUse",
  "PermissionRequest",
  "UserPromptSubmit",
]);

/** Events in which a callback can block an action. Its answer becomes part of Tenterhook's record of the event. */
export const DECIDING_EVENTS: ReadonlySet<ClaudeHookEvent> = new Set<ClaudeHookEvent>([
  ...GATES,
  "UserPromptExpansion",
  "Stop",
  "SubagentStop",
  "PreCompact",
]);
