// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "./connection/channel.js";
import { TenterhookError } from "./errors.js";
import type { EventMetadata, HookEvents, HookEventType } from "./events/index.js";
import {
  type CallbackAnswer,
  ErrorCode,
  FailBehavior,
  type FireRequest,
  type FireResponse,
  HookAction,
} from "./generated/tenterhook/v1/hooks.js";
import type { ModifiedData } from "./hooks/types.js";

/** What the daemon fills in if it is left out. */
type Known = "timestamp" | "metadata" | "context";

/** An event that an agent fires: `eventType` and `sessionId`, and what the event has. */
export type FiredEvent<E extends HookEventType = HookEventType> = {
  [T in E]: Omit<HookEvents[T], Known> &
    Partial<Pick<HookEvents[T], Known & keyof HookEvents[T]>> & {
      metadata?: Partial<EventMetadata>;
    };
}[E];

/** How an event is fired. */
export interface FireOptions {
  /** Gives up. */
  signal?: AbortSignal;
  /** Who fires, in letters, digits and `-`; `sdk` unless said. */
  source?: string;
  /** The event's id, a ULID, if it has one already. An id counts once. */
  eventId?: string;
  /** How long to wait when a person has to be asked, in milliseconds: 55000 unless said. */
  timeout?: number;
}

/** What came of an event. */
export interface FireResult {
  /** The id under which the ledger has it. */
  eventId: string;
  /** Whether it may happen; at `ToolError` also whether the tool should be tried again. */
  action: "continue" | "block" | "retry";
  /** With `retry`: when, in milliseconds. */
  delay?: number;
  /** Why not, in words for the agent. */
  reason?: string;
  /** What is to be used instead of what was asked for. */
  modified?: ModifiedData;
  decision: "none" | "allow" | "defer" | "ask" | "deny";
  /** Whether the agent should stop altogether. */
  stop: boolean;
  /** What the model should be told. */
  context?: string;
  /** What the person should be told. */
  message?: string;
  /** Everything that was found, and who found it: docs/spec/outcome.schema.json. */
  outcome: Record<string, unknown>;
}

/** What a harness's own hook program would have said. */
export interface NativeReply {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** What came of a harness's own event. */
export interface NativeResult {
  /** The id under which the ledger has it. */
  eventId: string;
  reply: NativeReply;
}

/** A harness's own event: its name, and its payload as it stands. */
export interface NativeEvent {
  /** Such as `claude-code`. */
  harness: string;
  event: string;
  payload: unknown;
  sessionId?: string;
  /** The answers of hooks that already ran in this program. They are combined with the policy, and the record names them. */
  callbacks?: readonly NativeCallback[];
}

/** The answer of a hook that ran in this program. */
export interface NativeCallback {
  /** The name in records: 1 to 64 of `A–Z a–z 0–9 _ . -`. */
  name: string;
  /** The answer, as a hook of the harness gives it. */
  output?: unknown;
  /** The hook failed. */
  error?: { message: string; timedOut: boolean };
  /** Whether a failure refuses. */
  block?: boolean;
  durationMs?: number;
}

/** Fires an event in this package's words. */
export async function fire(channel: Channel, event: FiredEvent, options: FireOptions): Promise<FireResult> {
  return result(await send(channel, request(event.eventType, event.sessionId, event, options), options));
}

/** Fires an event in a harness's own words. */
export async function fireNative(
  channel: Channel,
  { harness, event, payload, sessionId = "", callbacks = [] }: NativeEvent,
  options: FireOptions,
): Promise<NativeResult> {
  const common = request(event, sessionId, payload, options);
  const asked = { ...common, source: harness, native: true, callbacks: callbacks.map(callbackAnswer) };
  const { eventId, reply, callbacks: counted } = await send(channel, asked, options);
  if (counted !== callbacks.length) {
    const summary = "the daemon does not take the answers of callbacks into account";
    throw new TenterhookError("unimplemented", summary, "update it; see `tenterhook --version`");
  }
  const { stdout, stderr, exitCode } = reply ?? { stdout: "", stderr: "", exitCode: 0 };
  return { eventId, reply: { stdout: stdout.toString(), stderr, exitCode } };
}

function callbackAnswer({ name, output, error, block, durationMs = 0 }: NativeCallback): CallbackAnswer {
  const code = error?.timedOut ? ErrorCode.ERROR_TIMED_OUT : ErrorCode.ERROR_HANDLER;
  return {
    name,
    output: Buffer.from(output === undefined ? "" : JSON.stringify(output)),
    error: error && { code, message: error.message, hint: "" },
    failBehavior: block ? FailBehavior.FAIL_BLOCK : FailBehavior.FAIL_CONTINUE,
    durationUs: Math.round(durationMs * 1000),
  };
}

function request(eventType: string, sessionId: string, payload: unknown, options: FireOptions): FireRequest {
  return {
    eventType,
    sessionId,
    payload: Buffer.from(JSON.stringify(payload)),
    source: options.source ?? "",
    eventId: options.eventId ?? "",
    native: false,
    timeoutMs: options.timeout ?? 0,
    callbacks: [],
  };
}

function send(channel: Channel, request: FireRequest, { signal }: FireOptions): Promise<FireResponse> {
  return channel.call(channel.hooks, channel.hooks.fire, request, { signal });
}

const ACTIONS: Partial<Record<HookAction, FireResult["action"]>> = {
  [HookAction.BLOCK]: "block",
  [HookAction.RETRY]: "retry",
};

function result(response: FireResponse): FireResult {
  const { eventId, reason, modified, decision, stop, context, message, outcome, retryDelayMs } = response;
  return {
    eventId,
    action: ACTIONS[response.action] ?? "continue",
    ...(retryDelayMs !== undefined && { delay: retryDelayMs }),
    ...(reason !== undefined && { reason }),
    ...(modified !== undefined && { modified: JSON.parse(modified.toString()) }),
    decision: decision as FireResult["decision"],
    stop,
    ...(context !== undefined && { context }),
    ...(message !== undefined && { message }),
    outcome: outcome.length > 0 ? JSON.parse(outcome.toString()) : {},
  };
}
