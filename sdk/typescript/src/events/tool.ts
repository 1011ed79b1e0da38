// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, EventContext } from "./base.js";

/** The arguments of a tool, with the most common names. */
export interface ToolArgs {
  /** Shell command. */
  command?: unknown;
  /** The file that is read, written or edited. */
  file_path?: unknown;
  /** Text that is written. */
  content?: unknown;
  [name: string]: unknown;
}

/** The result of a tool call. */
export interface ToolResult {
  success: boolean;
  output: string;
  exitCode?: number;
  /** Run time in milliseconds. */
  duration: number;
}

interface ToolEvent extends BaseEvent {
  /** The harness's name for the tool: `Bash`, `Write`, `Edit`, … */
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
  /** Error message of the tool. */
  error: string;
  /** Number of attempts so far, from 1. */
  attempt: number;
  /** Run time in milliseconds. */
  duration?: number;
}

/** A tool call needs permission. */
export interface PermissionRequestEvent extends ToolEvent {
  eventType: "PermissionRequest";
  reason?: string;
}

/** Permission was granted. */
export interface PermissionGrantedEvent extends ToolEvent {
  eventType: "PermissionGranted";
  reason?: string;
}

/** Permission was denied. */
export interface PermissionDeniedEvent extends ToolEvent {
  eventType: "PermissionDenied";
  reason?: string;
}
