// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookEvent, ClaudeHookInputs } from "./input.js";
import type { HookJSONOutput } from "./output.js";

/** What a callback is told beside the event. */
export interface ClaudeCallbackOptions {
  /** Aborted when its time is over or the query has ended. */
  signal: AbortSignal;
}

/** A callback of your own, as the Agent SDK has it. */
export type ClaudeHookCallback<E extends ClaudeHookEvent = ClaudeHookEvent> = (
  input: ClaudeHookInputs[E],
  toolUseID: string | undefined,
  options: ClaudeCallbackOptions,
) => Promise<HookJSONOutput>;

/** Callbacks that share a matcher. */
export interface ClaudeHookMatcher<E extends ClaudeHookEvent = ClaudeHookEvent> {
  /**
   * Which tools, as the Agent SDK reads it: `Write`, a list such as `Write|Edit`, or else a regular expression such as
   * `mcp__.*`; `*` or nothing is all of them.
   */
  matcher?: string;
  hooks: ClaudeHookCallback<E>[];
  /**
   * How long each may take, in seconds, as the Agent SDK counts: 60 unless said. A number above 3600 is taken for
   * milliseconds, as older documents have it; 3000 is 50 minutes.
   */
  timeout?: number;
  /** The same in milliseconds; it counts before `timeout`. */
  timeoutMs?: number;
  /** What it means that one of them throws: `continue` unless said. */
  onFailure?: "continue" | "block";
}

/** Callbacks of your own, by event. */
export type ClaudeHooks = { [E in ClaudeHookEvent]?: ClaudeHookMatcher<E>[] };

/** What `query({ options: { hooks } })` of `@anthropic-ai/claude-agent-sdk` takes. */
export type AgentSdkHooks = Partial<Record<ClaudeHookEvent, AgentSdkMatcher[]>>;

/** One entry of it. */
export interface AgentSdkMatcher {
  matcher?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its types are the Agent SDK's, which this package does not depend on
  hooks: ((input: any, toolUseID: string | undefined, options: ClaudeCallbackOptions) => Promise<any>)[];
  /** In seconds. */
  timeout?: number;
  onFailure?: "continue" | "block";
}
