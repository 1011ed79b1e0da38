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

/** Fields that the daemon fills in if they are missing. */
type OptionalFields = "timestamp" | "metadata" | "context";

/** An event that an agent fires: `eventType`, `sessionId` and the fields of the event. */
export type FiredEvent<E extends HookEventType = HookEventType> = {
  [T in E]: Omit<HookEvents[T], OptionalFields> &
    Partial<Pick<HookEvents[T], OptionalFields & keyof HookEvents[T]>> & {
      metadata?: Partial<EventMetadata>;
    };
}[E];

/** Options of `fire()`. */
export interface FireOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Name of the agent: letters, digits and `-`; defaults to `sdk`. */
  source?: string;
  /** Id of the event, a ULID; by default the daemon generates one. Each id is recorded at most once. */
  eventId?: string;
  /** How long to wait for the user's approval, in milliseconds; defaults to 55000. */
  timeout?: number;
}

/** The outcome of a fired event. */
export interface FireResult {
  /** Id of the event in the ledger. */
  eventId: string;
  /** Whether the action may continue. After a `ToolError`, `retry` means that the tool should be called again. */
  action: "continue" | "block" | "retry";
  /** With `retry`: delay in milliseconds. */
  delay?: number;
  /** Reason for the agent. */
  reason?: string;
  /** Changes to apply to the action. */
  modified?: ModifiedData;
  decision: "none" | "allow" | "defer" | "ask" | "deny";
  /** Whether the agent must stop. */
  stop: boolean;
  /** Additional text for the model. */
  context?: string;
  /** Message for the user. */
  message?: string;
  /** The complete outcome: docs/spec/outcome.schema.json. */
  outcome: Record<string, unknown>;
}

/** The reply in a harness's own format: output and exit code of a hook program. */
export interface NativeReply {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** The outcome of an event in a harness's own format. */
export interface NativeResult {
  /** Id of the event in the ledger. */
  eventId: string;
  reply: NativeReply;
}

/** An event in a harness's own format. */
export interface NativeEvent {
  /** Id of the harness, such as `claude-code`. */
  harness: string;
  event: string;
  payload: unknown;
  sessionId?: string;
  /**
   * Answers of hooks that already ran in this program. They are combined with the verdicts of the policy, and the
   * record names these hooks.
   */
  callbacks?: readonly NativeCallback[];
}

/** The answer of a hook that ran in this program. */
export interface NativeCallback {
  /** Name in records: 1 to 64 characters of `A–Z a–z 0–9 _ . -`. */
  name: string;
  /** The answer, in the output format of the harness. */
  output?: unknown;
  /** Set if the hook failed. */
  error?: { message: string; timedOut: boolean };
  /** Whether a failure blocks the action. */
  block?: boolean;
  durationMs?: number;
}

/** Fires an event in the format of this package. */
export async function fire(channel: Channel, event: FiredEvent, options: FireOptions): Promise<FireResult> {
  return decodeResult(await send(channel, request(event.eventType, event.sessionId, event, options), options));
}

/** Fires an event in a harness's own format. */
export async function fireNative(
  channel: Channel,
  { harness, event, payload, sessionId = "", callbacks = [] }: NativeEvent,
  options: FireOptions,
): Promise<NativeResult> {
  const common = request(event, sessionId, payload, options);
  const asked = { ...common, source: harness, native: true, callbacks: callbacks.map(callbackAnswer) };
  const { eventId, reply, callbacks: counted } = await send(channel, asked, options);
  if (counted !== callbacks.length) {
    const summary = "the daemon does not support answers of callbacks";
    throw new TenterhookError("unimplemented", summary, "update the daemon; see `tenterhook --version`");
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

function decodeResult(response: FireResponse): FireResult {
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
