// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The hooks of a settings file, by event. */
export interface SettingsHooks {
  hooks: Record<string, HookDefinition[]>;
}

/** Hooks that share a matcher. */
export interface HookDefinition {
  /** What it is about, a tool's name for instance; all unless said. */
  matcher?: string;
  /** One after the other; at the same time unless said. */
  sequential?: boolean;
  hooks: HookConfig[];
}

/** A program that is run as a hook. */
export interface CommandHookConfig {
  type: "command";
  /** For a shell; `~` is expanded. */
  command: string;
  /** In milliseconds; 60000 unless said. */
  timeout?: number;
}

/** How a hook is run. */
export type HookConfig = CommandHookConfig;

/** The events. */
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
