// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookEvent } from "./input.js";

/**
 * The events that Tenterhook is asked about. Left out: `WorktreeCreate` and `WorktreeRemove` (a hook there takes the
 * place of git's own work), `FileChanged` (fires only for names given as a matcher) and `MessageDisplay` (fires for every
 * piece of text).
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

/** Where something can be prevented: if Tenterhook cannot be asked, it does not happen. */
export const GATES: ReadonlySet<ClaudeHookEvent> = new Set<ClaudeHookEvent>([
  "PreToolUse",
  "PermissionRequest",
  "UserPromptSubmit",
]);

/** Where a callback can keep something from happening: its answer is part of Tenterhook's record of the event. */
export const DECIDING_EVENTS: ReadonlySet<ClaudeHookEvent> = new Set<ClaudeHookEvent>([
  ...GATES,
  "UserPromptExpansion",
  "Stop",
  "SubagentStop",
  "PreCompact",
]);
