// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ContextWarningEvent, PostCompactEvent, PreCompactEvent } from "./context.js";
import type { GenerateEndEvent, GenerateStartEvent } from "./generation.js";
import type {
  NotificationEvent,
  SessionEndEvent,
  SessionStartEvent,
  StopEvent,
  SubagentStartEvent,
  SubagentStopEvent,
  UserPromptSubmitEvent,
} from "./session.js";
import type {
  PermissionDeniedEvent,
  PermissionGrantedEvent,
  PermissionRequestEvent,
  PostToolUseEvent,
  PreToolUseEvent,
  ToolErrorEvent,
} from "./tool.js";

export type * from "./base.js";
export type * from "./context.js";
export type * from "./generation.js";
export type * from "./session.js";
export type * from "./tool.js";

/** All events for which a hook can be registered, by type. */
export interface HookEvents {
  SessionStart: SessionStartEvent;
  SessionEnd: SessionEndEvent;
  GenerateStart: GenerateStartEvent;
  GenerateEnd: GenerateEndEvent;
  PreToolUse: PreToolUseEvent;
  PostToolUse: PostToolUseEvent;
  ToolError: ToolErrorEvent;
  PermissionRequest: PermissionRequestEvent;
  PermissionGranted: PermissionGrantedEvent;
  PermissionDenied: PermissionDeniedEvent;
  PreCompact: PreCompactEvent;
  PostCompact: PostCompactEvent;
  ContextWarning: ContextWarningEvent;
  UserPromptSubmit: UserPromptSubmitEvent;
  Stop: StopEvent;
  SubagentStart: SubagentStartEvent;
  SubagentStop: SubagentStopEvent;
  Notification: NotificationEvent;
}

/** The type of an event. */
export type HookEventType = keyof HookEvents;

/** An event of any type. */
export type HookEvent = HookEvents[HookEventType];

/** All event types: the thirteen types of the A3S hook design, then five more that harnesses have. */
export const HOOK_EVENT_TYPES = [
  "SessionStart",
  "SessionEnd",
  "GenerateStart",
  "GenerateEnd",
  "PreToolUse",
  "PostToolUse",
  "ToolError",
  "PermissionRequest",
  "PermissionGranted",
  "PermissionDenied",
  "PreCompact",
  "PostCompact",
  "ContextWarning",
  "UserPromptSubmit",
  "Stop",
  "SubagentStart",
  "SubagentStop",
  "Notification",
] as const satisfies readonly HookEventType[];
