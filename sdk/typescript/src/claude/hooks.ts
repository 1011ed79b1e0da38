// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookEvent, ClaudeHookInputs } from "./input.js";
import type { HookJSONOutput } from "./output.js";

/** Options of a callback call. */
export interface ClaudeCallbackOptions {
  /** Aborted when the time limit is over or the query has ended. */
  signal: AbortSignal;
}

/** A callback in the format of the Agent SDK. */
export type ClaudeHookCallback<E extends ClaudeHookEvent = ClaudeHookEvent> = (
  input: ClaudeHookInputs[E],
  toolUseID: string | undefined,
  options: ClaudeCallbackOptions,
) => Promise<HookJSONOutput>;

/** Callbacks that share a matcher. */
export interface ClaudeHookMatcher<E extends ClaudeHookEvent = ClaudeHookEvent> {
  /**
   * Tools, in the syntax of the Agent SDK: `Write`, a list such as `Write|Edit`, or a regular expression such as
   * `mcp__.*`; `*` or nothing means all tools.
   */
  matcher?: string;
  hooks: ClaudeHookCallback<E>[];
  /**
   * Time limit of each callback in seconds, as in the Agent SDK; defaults to 60. A number above 3600 is read as
   * milliseconds, as in older documentation. Smaller numbers are always seconds: 3000 is 50 minutes.
   */
  timeout?: number;
  /** Time limit in milliseconds; takes precedence over `timeout`. */
  timeoutMs?: number;
  /** What happens if a callback throws; defaults to `continue`. */
  onFailure?: "continue" | "block";
}

/** Callbacks of your own, by event. */
export type ClaudeHooks = { [E in ClaudeHookEvent]?: ClaudeHookMatcher<E>[] };

/** The type of `options.hooks` in `query()` of `@anthropic-ai/claude-agent-sdk`. */
export type AgentSdkHooks = Partial<Record<ClaudeHookEvent, AgentSdkMatcher[]>>;

/** One entry of `AgentSdkHooks`. */
export interface AgentSdkMatcher {
  matcher?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its types are the Agent SDK's, which this package does not depend on
  hooks: ((input: any, toolUseID: string | undefined, options: ClaudeCallbackOptions) => Promise<any>)[];
  /** Time limit in seconds. */
  timeout?: number;
  onFailure?: "continue" | "block";
}
