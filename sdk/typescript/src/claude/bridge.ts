// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "../client.js";
import { asError, TenterhookError } from "../errors.js";
import type { NativeCallback, NativeReply } from "../fire.js";
import { answerWithoutTenterhook, mergeWithReply, obeyed, refusal, residue, withPermissions } from "./answers.js";
import { DECIDING_EVENTS, GATES, GUARDED_EVENTS } from "./events.js";
import { AnswerGatherer, callKey } from "./gather.js";
import type { AgentSdkHooks, ClaudeHookCallback, ClaudeHooks } from "./hooks.js";
import type { ClaudeHookEvent, ClaudeHookInput } from "./input.js";
import type { HookJSONOutput } from "./output.js";
import { DEFAULT_CALLBACK_SECONDS, timeoutSeconds } from "./timeout.js";

/** Options of `tenterhookHooks()`. */
export interface TenterhookHooksOptions {
  /** Your own callbacks, in addition to Tenterhook's. */
  hooks?: ClaudeHooks;
  /** The events that are sent to Tenterhook; defaults to `GUARDED_EVENTS`. */
  events?: readonly ClaudeHookEvent[];
  /** Whether an action is blocked or continues if Tenterhook cannot be reached; defaults to `block`. */
  onFailure?: "block" | "continue";
  /**
   * How long Tenterhook may take for an event, in seconds; defaults to 60. This includes waiting for the user's
   * approval.
   */
  timeout?: number;
}

/** The daemon stops waiting for an approval this much earlier than the Agent SDK stops waiting for the callback. */
const APPROVAL_MARGIN_MS = 5000;

type Ask = (input: ClaudeHookInput, signal: AbortSignal, callbacks?: NativeCallback[]) => Promise<HookJSONOutput>;
type Callback = ClaudeHookCallback<"PreToolUse">;

/**
 * Returns the `hooks` for `query({ options: { hooks } })` of `@anthropic-ai/claude-agent-sdk`. Every event is checked
 * by Tenterhook's policy and recorded in its ledger. Your own callbacks run as well, and their decisions are part of
 * the record. If a callback changes the input of a call, the changed call is checked before it runs.
 */
export function tenterhookHooks(client: TenterhookClient, options: TenterhookHooksOptions = {}): AgentSdkHooks {
  const { hooks: own = {}, events = GUARDED_EVENTS, onFailure = "block", timeout = 60 } = options;
  const ask = createAsk(client, onFailure, Math.max(timeout * 1000 - APPROVAL_MARGIN_MS, 1000));
  const gatherer = new AnswerGatherer();
  const all: AgentSdkHooks = {};
  // The client calls the entries in their order. Tenterhook's entry is last, so that it can collect the callbacks'
  // answers.
  for (const [event, matchers = []] of Object.entries(own) as [ClaudeHookEvent, ClaudeHooks["PreToolUse"]][]) {
    const gathered = events.includes(event) && DECIDING_EVENTS.has(event);
    let number = 0;
    all[event] = matchers.map(({ timeoutMs, ...matcher }) => {
      const limit = timeoutSeconds({ ...matcher, timeoutMs }) ?? (gathered ? DEFAULT_CALLBACK_SECONDS : undefined);
      const hooks = matcher.hooks.map((callback) => {
        number += 1;
        if (!gathered) return GATES.has(event) ? enforceRefusal(event, callback) : callback;
        const block = matcher.onFailure === "block";
        return recordAnswer(event, { callback, name: callbackName(callback, event, number), block }, gatherer, ask);
      });
      return { ...matcher, hooks, ...(limit !== undefined && { timeout: limit }) };
    });
  }
  for (const event of events) {
    const entries = all[event] ?? [];
    const longest = DECIDING_EVENTS.has(event) ? Math.max(0, ...entries.map((entry) => entry.timeout ?? 0)) : 0;
    const guard: Callback = async (input, toolUseID, { signal }) => {
      return ask(input, signal, await gatherer.collect(callKey(input, toolUseID)));
    };
    all[event] = [...entries, { hooks: [guard], timeout: timeout + longest }];
  }
  return all;
}

/** Returns a function that sends an event to Tenterhook in Claude Code's own format. */
function createAsk(client: TenterhookClient, onFailure: "block" | "continue", timeout: number): Ask {
  return async (input, signal, callbacks = []) => {
    const event = input.hook_event_name;
    const outputs = callbacks.flatMap(({ output }) => (output ? [output as HookJSONOutput] : []));
    try {
      const asked = { harness: "claude-code", event, payload: input, sessionId: input.session_id, callbacks };
      const { reply } = await client.fireNative(asked, { signal, timeout });
      return withPermissions(interpretReply(event, reply), outputs);
    } catch (error) {
      if (onFailure === "block" && GATES.has(event)) {
        return refusal(event, `Tenterhook could not be reached: ${asError(error).message}`);
      }
      const left = answerWithoutTenterhook(event, outputs);
      if (left) return left;
      throw error;
    }
  };
}

/**
 * Interprets the exit code and output of a hook program in the same way as Claude Code: exit code 2 refuses, and any
 * other code except 0 is a failure, like output that is not a JSON object.
 */
export function interpretReply(event: ClaudeHookEvent, { stdout, stderr, exitCode }: NativeReply): HookJSONOutput {
  if (exitCode === 2) return refusal(event, stderr.trim() || "blocked");
  if (exitCode !== 0) {
    throw new TenterhookError("internal", `the reply has exit code ${exitCode}: ${stderr.trim()}`);
  }
  if (stdout.trim() === "") return {};
  const output: unknown = JSON.parse(stdout);
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    throw new TenterhookError("internal", "the reply is not a JSON object");
  }
  return output as HookJSONOutput;
}

/** Wraps a callback of an event that is not sent to Tenterhook, so that the client obeys its refusals. */
function enforceRefusal(event: ClaudeHookEvent, callback: Callback): Callback {
  return async (...args) => obeyed(event, await callback(...args));
}

/** Wraps a callback so that its answer becomes part of the record. */
function recordAnswer(
  event: ClaudeHookEvent,
  { callback, name, block }: { callback: Callback; name: string; block: boolean },
  gatherer: AnswerGatherer,
  ask: Ask,
): Callback {
  return async (input, toolUseID, options) => {
    const began = performance.now();
    const running = (async () => callback(input, toolUseID, options))();
    const answer = answerOf(name, running, options.signal, block).then((answer) => {
      return { ...answer, durationMs: performance.now() - began };
    });
    const collected = gatherer.announce(callKey(input, toolUseID), answer);
    let output: HookJSONOutput;
    try {
      output = obeyed(event, await running);
    } catch (error) {
      void collected();
      throw error;
    }
    if (await collected()) return residue(event, output);
    // Tenterhook's entry did not collect this answer: it ran before this callback was called. So the answer gets its
    // own record.
    return mergeWithReply(event, output, await ask(input, options.signal, [await answer]));
  };
}

async function answerOf(
  name: string,
  running: Promise<HookJSONOutput>,
  signal: AbortSignal,
  block: boolean,
): Promise<NativeCallback> {
  const aborted = new Promise<"aborted">((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
  try {
    const output = await Promise.race([running, aborted]);
    // The client does not run a tool whose callback timed out.
    if (output === "aborted") return { name, error: { timedOut: true, message: "no answer in time" }, block: true };
    if (!output) return { name, error: { timedOut: false, message: "the callback returned nothing" }, block };
    return { name, output, block };
  } catch (error) {
    return { name, error: { timedOut: false, message: asError(error).message }, block };
  }
}

/** Returns the name of a callback in records. */
function callbackName(callback: Callback, event: ClaudeHookEvent, number: number): string {
  return callback.name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 64) || `${event}-${number}`;
}
