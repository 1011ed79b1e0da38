// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Generation, HookEvents, HookEventType, ModelConfig, ToolArgs } from "../events/index.js";

/** Everything that can be changed, at one event or another. */
export interface ModifiedData {
  /** Other arguments, whole. The rules judge them again. */
  args?: ToolArgs;
  /** Text that the model is told. */
  context?: string;
  prompt?: string;
  systemPrompt?: string;
  model?: ModelConfig;
  /** The names of the tools the model is offered. */
  tools?: string[];
  /** What the model is said to have answered. */
  response?: Partial<Pick<Generation, "text" | "toolCalls">>;
  /** What the tool is said to have put out. */
  result?: { output: string };
}

/** What can be changed at which event. */
export interface ModifiedKeys extends Record<HookEventType, keyof ModifiedData> {
  SessionStart: "context";
  SessionEnd: never;
  GenerateStart: "prompt" | "systemPrompt" | "model" | "tools" | "context";
  GenerateEnd: "response";
  PreToolUse: "args";
  PostToolUse: "result" | "context";
  ToolError: never;
  PermissionRequest: "args";
  PermissionGranted: never;
  PermissionDenied: never;
  PreCompact: never;
  PostCompact: never;
  ContextWarning: never;
  UserPromptSubmit: "context";
  Stop: never;
  SubagentStart: never;
  SubagentStop: never;
  Notification: never;
}

/** What a hook answers; `E` limits what it may change. */
export type HookResponse<E extends HookEventType = HookEventType> =
  /** Nothing to object. */
  | { action: "continue"; modified?: undefined }
  /** Nothing to object, if it is done this way. */
  | { action: "continue"; modified: Pick<ModifiedData, ModifiedKeys[E]> }
  /** It does not happen, and the agent reads why. After the fact it is a remark. */
  | { action: "block"; reason: string }
  /** Ask again after so many milliseconds (1000 unless said): three times, then it is a block. */
  | { action: "retry"; delay?: number; reason?: string }
  /** Hooks that come later do not count. What was said before stands; rules are never skipped. */
  | { action: "skip"; reason?: string };

/** What a handler is told beside the event. */
export interface HookContext {
  /** Aborted when nobody waits for the answer any more: the time is over, or whoever asked has gone. */
  readonly signal: AbortSignal;
  readonly hookId: string;
  /** The id under which the ledger has the event. */
  readonly eventId: string;
  /** How often this hook was asked about this event, from 1; more after a `retry`. */
  readonly attempt: number;
  /** It was sent before, on a connection that broke. */
  readonly redelivered: boolean;
}

/** A hook's code. To return nothing is to continue; to throw is a failure, and `failBehavior` decides. */
export type HookHandler<E extends HookEventType = HookEventType> = (
  event: HookEvents[E],
  context: HookContext,
) => HookAnswer<E> | Promise<HookAnswer<E>>;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler with no return statement is welcome
type HookAnswer<E extends HookEventType> = HookResponse<E> | void;

/** Which events a hook wants: all that is said has to fit. */
export interface HookMatcher {
  /** Exactly this tool. */
  tool?: string;
  /** A glob for the file a tool works on; `*.env` fits at any depth. */
  pathPattern?: string;
  /** A regular expression for shell commands; one that cannot be read is refused. */
  commandPattern?: string;
}

/** How a hook is run. */
export interface HookConfig {
  /** Lower comes earlier. */
  priority?: number;
  /** How long it may take, in milliseconds: 5000 unless said, at most 45000: harnesses wait a minute. */
  timeout?: number;
  /** Nobody waits for it, and what it answers does not count. */
  async?: boolean;
  /** What its failure means: no answer in time, no connection, an exception, an answer that cannot be used. */
  failBehavior?: "continue" | "block";
  /** How long the hook outlives a broken connection, in milliseconds: 30000 unless said. */
  linger?: number;
}

/** A hook with all that can be said about it. */
export interface HookRegistration<E extends HookEventType = HookEventType> {
  matcher?: HookMatcher;
  handler: HookHandler<E>;
  config?: HookConfig;
  /** An id of your own, 1 to 64 of `A-Z a-z 0-9 _ . -`; unless said, one is made up. */
  id?: string;
}

/** A hook of this client, as it stands. */
export interface RegisteredHook {
  id: string;
  event: HookEventType;
  matcher: HookMatcher;
  config: HookConfig;
  /** Whether the daemon has it: not yet or not now, yes, or it refused it. */
  state: "pending" | "active" | "refused";
  /** Why it was refused. */
  error?: Error;
}
