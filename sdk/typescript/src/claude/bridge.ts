// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { TenterhookClient } from "../client.js";
import { asError } from "../errors.js";
import type { NativeReply } from "../fire.js";
import { GATES, GUARDED_EVENTS } from "./events.js";
import type { AgentSdkHooks, ClaudeHookCallback, ClaudeHooks } from "./hooks.js";
import type { ClaudeHookEvent, ClaudeHookInput, ToolInput } from "./input.js";
import type { HookJSONOutput, PermissionRequestSpecificOutput, PreToolUseSpecificOutput } from "./output.js";
import { seconds } from "./timeout.js";

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

type Ask = (input: ClaudeHookInput, signal: AbortSignal) => Promise<HookJSONOutput>;

/**
 * The `hooks` for `query({ options: { hooks } })` of `@anthropic-ai/claude-agent-sdk`: every event goes through
 * Tenterhook's policy and into its ledger and live view, and your own callbacks work beside it. An input that one of them
 * changes is judged before it runs.
 */
export function tenterhookHooks(client: TenterhookClient, options: TenterhookHooksOptions = {}): AgentSdkHooks {
  const { hooks: own = {}, events = GUARDED_EVENTS, onFailure = "block", timeout = 60 } = options;
  const ask = asker(client, onFailure, Math.max(timeout * 1000 - MARGIN, 1000));
  const all: AgentSdkHooks = {};
  for (const event of events) {
    all[event] = [{ hooks: [(input, _, { signal }) => ask(input, signal)], timeout }];
  }
  for (const [event, matchers = []] of Object.entries(own) as [ClaudeHookEvent, ClaudeHooks["PreToolUse"]][]) {
    const judged = events.includes(event);
    const entries = matchers.map(({ timeoutMs, ...matcher }) => {
      const limit = seconds({ ...matcher, timeoutMs });
      const hooks = judged ? matcher.hooks.map((callback) => judging(callback, ask)) : matcher.hooks;
      return { ...matcher, hooks, ...(limit !== undefined && { timeout: limit }) };
    });
    all[event] = [...(all[event] ?? []), ...entries];
  }
  return all;
}

/** Asks Tenterhook about an event, in Claude Code's own words. */
function asker(client: TenterhookClient, onFailure: "block" | "continue", timeout: number): Ask {
  return async (input, signal) => {
    const event = input.hook_event_name;
    try {
      const asked = { harness: "claude-code", event, payload: input, sessionId: input.session_id };
      const { reply } = await client.fireNative(asked, { signal, timeout });
      return heard(event, reply);
    } catch (error) {
      if (onFailure === "continue" || !GATES.has(event)) throw error;
      return refusal(event, `Tenterhook could not be asked: ${asError(error).message}`);
    }
  };
}

/** What Claude Code would have made of a hook program's exit. */
function heard(event: ClaudeHookEvent, { stdout, stderr, exitCode }: NativeReply): HookJSONOutput {
  if (exitCode === 2) return refusal(event, stderr.trim());
  return stdout.trim() === "" ? {} : (JSON.parse(stdout) as HookJSONOutput);
}

function refusal(event: ClaudeHookEvent, reason: string): HookJSONOutput {
  switch (event) {
    case "PreToolUse": {
      const permissionDecision = "deny";
      return { hookSpecificOutput: { hookEventName: event, permissionDecision, permissionDecisionReason: reason } };
    }
    case "PermissionRequest":
      return { hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } } };
    default:
      return { decision: "block", reason };
  }
}

/** A callback whose changes are judged: what was asked about is not what would run. */
function judging(callback: ClaudeHookCallback<"PreToolUse">, ask: Ask): ClaudeHookCallback<"PreToolUse"> {
  return async (input, toolUseID, options) => {
    const output = await callback(input, toolUseID, options);
    const updated = updatedInput(output);
    if (!updated) return output;
    const verdict = await ask({ ...input, tool_input: updated }, options.signal);
    return combine(output, verdict);
  };
}

/** What an answer can say at either gate. */
type Said = Omit<PreToolUseSpecificOutput, "hookEventName"> &
  Partial<Omit<PermissionRequestSpecificOutput, "hookEventName">>;

function said(output: HookJSONOutput): Said {
  return (output && !("async" in output) ? (output.hookSpecificOutput as Said | undefined) : undefined) ?? {};
}

function updatedInput(output: HookJSONOutput): ToolInput | undefined {
  const { updatedInput, decision } = said(output);
  return updatedInput ?? (decision?.behavior === "allow" ? decision.updatedInput : undefined);
}

/** What the callback said, unless Tenterhook objects to it or would have it done in yet another way. */
function combine(output: HookJSONOutput, verdict: HookJSONOutput): HookJSONOutput {
  if ("async" in verdict) return output;
  const { permissionDecision = "allow", decision } = said(verdict);
  const objects =
    verdict.decision === "block" ||
    verdict.continue === false ||
    permissionDecision !== "allow" ||
    decision?.behavior === "deny";
  return objects || updatedInput(verdict) ? verdict : output;
}
