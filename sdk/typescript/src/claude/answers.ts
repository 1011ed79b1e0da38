// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookEvent } from "./input.js";
import type {
  HookJSONOutput,
  PermissionRequestSpecificOutput,
  PreToolUseSpecificOutput,
  SyncHookJSONOutput,
} from "./output.js";

/** All fields of `hookSpecificOutput` for events in which a callback can decide. */
type SpecificOutput = Partial<Omit<PreToolUseSpecificOutput, "hookEventName">> &
  Partial<Omit<PermissionRequestSpecificOutput, "hookEventName">> & { hookEventName?: string };

function isSync(output: HookJSONOutput | undefined | null): output is SyncHookJSONOutput {
  return typeof output === "object" && output !== null && !("async" in output && output.async);
}

function specificOf(output: SyncHookJSONOutput): SpecificOutput {
  return (output.hookSpecificOutput as SpecificOutput | undefined) ?? {};
}

/** Returns an answer that blocks the action. */
export function refusal(event: ClaudeHookEvent, reason: string): SyncHookJSONOutput {
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

/**
 * Rewrites a callback's answer so that the client (Claude Code) obeys it. Without the rewrite, the client would run
 * the tool in spite of `continue: false` in `PreToolUse`, and would ignore `decision: "block"` in
 * `PermissionRequest`.
 */
export function obeyed(event: ClaudeHookEvent, output: HookJSONOutput): HookJSONOutput {
  if (!isSync(output)) return output;
  const specific = specificOf(output);
  const stops = output.continue === false;
  if (event === "PreToolUse" && stops && specific.permissionDecision !== "deny") {
    const { hookSpecificOutput } = refusal(event, output.stopReason ?? output.reason ?? "stopped by a callback");
    return { ...output, hookSpecificOutput: { ...specific, ...(hookSpecificOutput as SpecificOutput) } as never };
  }
  if (event === "PermissionRequest" && (stops || output.decision === "block") && !isDenied(specific)) {
    const message = output.reason ?? output.stopReason;
    const decision = { behavior: "deny", ...(message && { message }), ...(stops && { interrupt: true }) } as const;
    return { ...output, hookSpecificOutput: { ...specific, hookEventName: event, decision } };
  }
  return output;
}

function isDenied({ decision }: SpecificOutput): boolean {
  return decision?.behavior === "deny";
}

/**
 * Returns the part of a callback's answer that the callback itself sends to the client. Tenterhook's own entry in the
 * `hooks` option sends the combined reply. Both send a refusal, so that it cannot be lost. Parts that must not be
 * applied twice (texts, a changed input, a permission) are left out here.
 */
export function residue(event: ClaudeHookEvent, output: HookJSONOutput): HookJSONOutput {
  if (!isSync(output)) return output;
  const { systemMessage: _message, suppressOutput: _suppress, hookSpecificOutput: _specific, ...rest } = output;
  const { additionalContext: _context, updatedInput: _input, ...specific } = specificOf(output);
  if (event === "PermissionRequest" && specific.decision?.behavior === "allow") delete specific.decision;
  if (event === "PermissionRequest" && rest.decision === "approve") delete rest.decision;
  const { hookEventName: _name, ...said } = specific;
  if (Object.keys(said).length === 0) return rest;
  return { ...rest, hookSpecificOutput: specific as never };
}

/** Adds the permission rules of callbacks that allowed the request to Tenterhook's reply, which lacks them. */
export function withPermissions(reply: HookJSONOutput, outputs: HookJSONOutput[]): HookJSONOutput {
  const decision = isSync(reply) ? specificOf(reply).decision : undefined;
  if (decision?.behavior !== "allow") return reply;
  const updatedPermissions = outputs.filter(isSync).flatMap((output) => {
    const given = specificOf(output).decision;
    return given?.behavior === "allow" ? (given.updatedPermissions ?? []) : [];
  });
  if (updatedPermissions.length === 0) return reply;
  const hookEventName = "PermissionRequest";
  return { ...reply, hookSpecificOutput: { hookEventName, decision: { ...decision, updatedPermissions } } };
}

/**
 * Returns the reply if Tenterhook is unreachable. It contains the parts of the callbacks' answers that Tenterhook's
 * reply would have contained.
 */
export function answerWithoutTenterhook(event: ClaudeHookEvent, outputs: HookJSONOutput[]): HookJSONOutput | undefined {
  const answers = outputs.filter(isSync);
  const specifics = answers.map(specificOf);
  const joined = (texts: (string | undefined)[]) => texts.filter(Boolean).join("\n") || undefined;
  const systemMessage = joined(answers.map((answer) => answer.systemMessage));
  const additionalContext = joined(specifics.map((specific) => specific.additionalContext));
  const updatedInput = last(specifics.map((specific) => specific.updatedInput));
  const decision = last(specifics.map((specific) => specific.decision?.behavior === "allow" && specific.decision));
  const said = compact({ additionalContext, updatedInput, decision: decision || undefined });
  const hookSpecificOutput = said && ({ hookEventName: event, ...said } as never);
  return compact({ systemMessage, hookSpecificOutput });
}

function last<T>(values: (T | undefined | false)[]): T | undefined {
  return values.filter((value): value is T => value !== undefined && value !== false).at(-1);
}

function compact<T extends object>(fields: T): T | undefined {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.length > 0 ? (Object.fromEntries(given) as T) : undefined;
}

/** Merges Tenterhook's reply with the answer of a single callback. A refusal by the callback stays in effect. */
export function mergeWithReply(event: ClaudeHookEvent, output: HookJSONOutput, reply: HookJSONOutput): HookJSONOutput {
  const own = residue(event, output);
  if (!isSync(own) || !isSync(reply)) return isSync(reply) ? own : reply;
  const specific = { ...specificOf(own), ...specificOf(reply) };
  return { ...own, ...reply, ...(Object.keys(specific).length > 0 && { hookSpecificOutput: specific as never }) };
}
