// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The hooks of a settings file, by event. */
export interface SettingsHooks {
  hooks: Record<string, HookDefinition[]>;
}

/** Hooks that share a matcher. */
export interface HookDefinition {
  /** Pattern such as the name of a tool; defaults to all. */
  matcher?: string;
  /** Whether the hooks run in sequence; by default they run in parallel. */
  sequential?: boolean;
  hooks: HookConfig[];
}

/** A program that is run as a hook. */
export interface CommandHookConfig {
  type: "command";
  /** Shell command; `~` is expanded. */
  command: string;
  /** Time limit in milliseconds; defaults to 60000. */
  timeout?: number;
}

/** Kind of a hook. */
export type HookConfig = CommandHookConfig;

/** The event names. */
export enum HookEventName {
  BeforeTool = "BeforeTool",
  AfterTool = "AfterTool",
  BeforeAgent = "BeforeAgent",
  AfterAgent = "AfterAgent",
  BeforeModel = "BeforeModel",
  AfterModel = "AfterModel",
  BeforeToolSelection = "BeforeToolSelection",
  SessionStart = "SessionStart",
  SessionEnd = "SessionEnd",
  PreCompress = "PreCompress",
  Notification = "Notification",
}
