// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, EventContext } from "./base.js";

/** A tool's arguments, as the tool takes them; the named ones are common. */
export interface ToolArgs {
  /** A shell's command. */
  command?: unknown;
  /** The file that is read, written or edited. */
  file_path?: unknown;
  /** What is written. */
  content?: unknown;
  [name: string]: unknown;
}

/** What became of a tool call. */
export interface ToolResult {
  success: boolean;
  output: string;
  exitCode?: number;
  /** In milliseconds. */
  duration: number;
}

interface ToolEvent extends BaseEvent {
  /** `Bash`, `Write`, `Edit`, … as the harness calls it. */
  tool: string;
  args: ToolArgs;
  context: EventContext;
}

/** A tool is about to run. */
export interface PreToolUseEvent extends ToolEvent {
  eventType: "PreToolUse";
}

/** A tool has run. */
export interface PostToolUseEvent extends ToolEvent {
  eventType: "PostToolUse";
  result: ToolResult;
}

/** A tool has failed. */
export interface ToolErrorEvent extends ToolEvent {
  eventType: "ToolError";
  /** What went wrong, in the tool's words. */
  error: string;
  /** How often it was tried, from 1. */
  attempt: number;
  /** In milliseconds. */
  duration?: number;
}

/** A tool needs somebody's permission. */
export interface PermissionRequestEvent extends ToolEvent {
  eventType: "PermissionRequest";
  reason?: string;
}

/** A permission was given. */
export interface PermissionGrantedEvent extends ToolEvent {
  eventType: "PermissionGranted";
  reason?: string;
}

/** A permission was refused. */
export interface PermissionDeniedEvent extends ToolEvent {
  eventType: "PermissionDenied";
  reason?: string;
}
