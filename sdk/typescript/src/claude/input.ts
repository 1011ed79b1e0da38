// SPDX-License-Identifier: Apache-2.0 OR MIT

/** Fields of every callback input. */
export interface BaseHookInput {
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  /** Id of the subagent, if there is one. */
  agent_id?: string;
  agent_type?: string;
}

/** The arguments of a tool; each tool has its own. */
// biome-ignore lint/suspicious/noExplicitAny: `input.tool_input?.file_path` is how callbacks are written
export type ToolInput = Record<string, any>;

export interface PreToolUseHookInput extends BaseHookInput {
  hook_event_name: "PreToolUse";
  tool_name: string;
  tool_input: ToolInput;
  tool_use_id: string;
}

export interface PostToolUseHookInput extends BaseHookInput {
  hook_event_name: "PostToolUse";
  tool_name: string;
  tool_input: ToolInput;
  tool_response: unknown;
  tool_use_id: string;
}

export interface PostToolUseFailureHookInput extends BaseHookInput {
  hook_event_name: "PostToolUseFailure";
  tool_name: string;
  tool_input: ToolInput;
  tool_use_id: string;
  error: string;
  is_interrupt?: boolean;
}

export interface PermissionRequestHookInput extends BaseHookInput {
  hook_event_name: "PermissionRequest";
  tool_name: string;
  tool_input: ToolInput;
}

export interface UserPromptSubmitHookInput extends BaseHookInput {
  hook_event_name: "UserPromptSubmit";
  prompt: string;
}

export interface SessionStartHookInput extends BaseHookInput {
  hook_event_name: "SessionStart";
  source: "startup" | "resume" | "clear" | "compact" | "fork";
}

export interface SessionEndHookInput extends BaseHookInput {
  hook_event_name: "SessionEnd";
  /** Why the session ended. */
  reason: string;
}

export interface StopHookInput extends BaseHookInput {
  hook_event_name: "Stop";
  stop_hook_active: boolean;
  last_assistant_message?: string;
}

export interface SubagentStartHookInput extends BaseHookInput {
  hook_event_name: "SubagentStart";
  agent_id: string;
  agent_type: string;
}

export interface SubagentStopHookInput extends BaseHookInput {
  hook_event_name: "SubagentStop";
  stop_hook_active: boolean;
  agent_id: string;
  agent_transcript_path: string;
  agent_type: string;
}

export interface PreCompactHookInput extends BaseHookInput {
  hook_event_name: "PreCompact";
  trigger: "manual" | "auto";
  custom_instructions: string | null;
}

export interface NotificationHookInput extends BaseHookInput {
  hook_event_name: "Notification";
  message: string;
  title?: string;
  notification_type: string;
}

/** An event for which this package declares only the common fields. */
export interface OtherHookInput<E extends string> extends BaseHookInput {
  hook_event_name: E;
  [field: string]: unknown;
}

/** The events of the Agent SDK for which this package has no specific type. */
export type OtherClaudeEvent =
  | "PostToolBatch"
  | "PermissionDenied"
  | "UserPromptExpansion"
  | "StopFailure"
  | "PostCompact"
  | "PreModelSwitch"
  | "PostModelSwitch"
  | "Setup"
  | "TeammateIdle"
  | "TaskCreated"
  | "TaskCompleted"
  | "Elicitation"
  | "ElicitationResult"
  | "ConfigChange"
  | "WorktreeCreate"
  | "WorktreeRemove"
  | "InstructionsLoaded"
  | "CwdChanged"
  | "FileChanged"
  | "DirectoryAdded"
  | "MessageDisplay";

/** Callback inputs by event. */
export type ClaudeHookInputs = {
  PreToolUse: PreToolUseHookInput;
  PostToolUse: PostToolUseHookInput;
  PostToolUseFailure: PostToolUseFailureHookInput;
  PermissionRequest: PermissionRequestHookInput;
  UserPromptSubmit: UserPromptSubmitHookInput;
  SessionStart: SessionStartHookInput;
  SessionEnd: SessionEndHookInput;
  Stop: StopHookInput;
  SubagentStart: SubagentStartHookInput;
  SubagentStop: SubagentStopHookInput;
  PreCompact: PreCompactHookInput;
  Notification: NotificationHookInput;
} & { [E in OtherClaudeEvent]: OtherHookInput<E> };

/** An event of the Agent SDK. */
export type ClaudeHookEvent = keyof ClaudeHookInputs;

/** The input of a callback. */
export type ClaudeHookInput = ClaudeHookInputs[ClaudeHookEvent];
