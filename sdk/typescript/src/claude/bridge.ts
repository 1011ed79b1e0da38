// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "../client.js";
import { asError } from "../errors.js";
import type { NativeCallback, NativeReply } from "../fire.js";
import { besideReply, obeyed, refusal, residue, unjudged, withPermissions } from "./answers.js";
import { DECIDING_EVENTS, GATES, GUARDED_EVENTS } from "./events.js";
import { AnswerGatherer, callKey } from "./gather.js";
import type { AgentSdkHooks, ClaudeHookCallback, ClaudeHooks } from "./hooks.js";
import type { ClaudeHookEvent, ClaudeHookInput } from "./input.js";
import type { HookJSONOutput } from "./output.js";
import { DEFAULT_CALLBACK_SECONDS, seconds } from "./timeout.js";

/** What Tenterhook does in an Agent SDK program. */
export interface TenterhookHooksOptions {
  /** Callbacks of your own, beside Tenterhook's. */
  hooks?: ClaudeHooks;
  /** The events Tenterhook is asked about; all that make sense unless said. */
  events?: readonly ClaudeHookEvent[];
  /** Whether a gate holds when Tenterhook cannot be asked: `block` unless said. */
  onFailure?: "block" | "continue";
  /** How long Tenterhook may take, in seconds: 60 unless said. An approval by a person fits into it. */
  timeout?: number;
}

/** The daemon gives up on a person a little before the Agent SDK gives up on us, in milliseconds. */
const MARGIN = 5000;

type Ask = (input: ClaudeHookInput, signal: AbortSignal, callbacks?: NativeCallback[]) => Promise<HookJSONOutput>;
type Callback = ClaudeHookCallback<"PreToolUse">;

/**
 * The `hooks` for `query({ options: { hooks } })` of `@anthropic-ai/claude-agent-sdk`: every event goes through
 * Tenterhook's policy and into its ledger and live view, and your own callbacks work beside it. What they decide is part
 * of the record, and an input that one of them changes is judged before it runs.
 */
export function tenterhookHooks(client: TenterhookClient, options: TenterhookHooksOptions = {}): AgentSdkHooks {
  const { hooks: own = {}, events = GUARDED_EVENTS, onFailure = "block", timeout = 60 } = options;
  const ask = asker(client, onFailure, Math.max(timeout * 1000 - MARGIN, 1000));
  const gatherer = new AnswerGatherer();
  const all: AgentSdkHooks = {};
  // The client calls entries in this order. Tenterhook's is last, so that it finds the callbacks that run beside it.
  for (const [event, matchers = []] of Object.entries(own) as [ClaudeHookEvent, ClaudeHooks["PreToolUse"]][]) {
    const gathered = events.includes(event) && DECIDING_EVENTS.has(event);
    let number = 0;
    all[event] = matchers.map(({ timeoutMs, ...matcher }) => {
      const limit = seconds({ ...matcher, timeoutMs }) ?? (gathered ? DEFAULT_CALLBACK_SECONDS : undefined);
      const hooks = matcher.hooks.map((callback) => {
        number += 1;
        if (!gathered) return GATES.has(event) ? obedient(event, callback) : callback;
        const block = matcher.onFailure === "block";
        return answering(event, { callback, name: nameOf(callback, event, number), block }, gatherer, ask);
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

/** Asks Tenterhook about an event, in Claude Code's own words. */
function asker(client: TenterhookClient, onFailure: "block" | "continue", timeout: number): Ask {
  return async (input, signal, callbacks = []) => {
    const event = input.hook_event_name;
    const outputs = callbacks.flatMap(({ output }) => (output ? [output as HookJSONOutput] : []));
    try {
      const asked = { harness: "claude-code", event, payload: input, sessionId: input.session_id, callbacks };
      const { reply } = await client.fireNative(asked, { signal, timeout });
      return withPermissions(heard(event, reply), outputs);
    } catch (error) {
      if (onFailure === "block" && GATES.has(event)) {
        return refusal(event, `Tenterhook could not be asked: ${asError(error).message}`);
      }
      const left = unjudged(event, outputs);
      if (left) return left;
      throw error;
    }
  };
}

/** What Claude Code would have made of a hook program's exit. */
function heard(event: ClaudeHookEvent, { stdout, stderr, exitCode }: NativeReply): HookJSONOutput {
  if (exitCode === 2) return refusal(event, stderr.trim());
  return stdout.trim() === "" ? {} : (JSON.parse(stdout) as HookJSONOutput);
}

/** A callback whose refusals are obeyed, at an event that Tenterhook is not asked about. */
function obedient(event: ClaudeHookEvent, callback: Callback): Callback {
  return async (...args) => obeyed(event, await callback(...args));
}

/** A callback whose answer becomes part of the record. */
function answering(
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
    let said: HookJSONOutput;
    try {
      said = obeyed(event, await running);
    } catch (error) {
      void collected();
      throw error;
    }
    if (await collected()) return residue(event, said);
    // Tenterhook's entry ran before this callback was called: this answer is a record of its own.
    return besideReply(event, said, await ask(input, options.signal, [await answer]));
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
    // The client does not run a tool whose callback took too long.
    if (output === "aborted") return { name, error: { timedOut: true, message: "no answer in time" }, block: true };
    if (!output) return { name, error: { timedOut: false, message: "the callback returned nothing" }, block };
    return { name, output, block };
  } catch (error) {
    return { name, error: { timedOut: false, message: asError(error).message }, block };
  }
}

/** The name of a callback in records. */
function nameOf(callback: Callback, event: ClaudeHookEvent, number: number): string {
  return callback.name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 64) || `${event}-${number}`;
}
