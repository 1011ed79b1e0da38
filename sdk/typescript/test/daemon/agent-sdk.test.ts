// SPDX-License-Identifier: Apache-2.0 OR MIT

// The callbacks for the Agent SDK, called in the same way as by the Agent SDK. e2e/ runs the real one.

import {
  type AgentSdkHooks,
  type ClaudeHookEvent,
  GUARDED_EVENTS,
  type HookJSONOutput,
  type TenterhookClient,
  type TenterhookHooksOptions,
  tenterhookHooks,
} from "tenterhook";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as patterns from "../../examples/agent-sdk/patterns.js";
import { Daemon, type Leaf } from "./daemon.js";

let daemon: Daemon;
let client: TenterhookClient;

beforeAll(async () => {
  daemon = await Daemon.start();
  client = daemon.client();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const base = { session_id: "s", transcript_path: "/t.jsonl", cwd: "/tmp" };

/** Calls every callback of an event at once, as the client does. */
async function call(hooks: AgentSdkHooks, event: ClaudeHookEvent, fields: object): Promise<HookJSONOutput[]> {
  const { signal } = new AbortController();
  const callbacks = (hooks[event] ?? []).flatMap((entry) => entry.hooks);
  const input = { ...base, hook_event_name: event, ...fields };
  return Promise.all(callbacks.map((callback) => callback(input, undefined, { signal })));
}

const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command }, tool_use_id: "toolu_1" });

test("every event has one entry of Tenterhook, which is last and waits for the other callbacks", () => {
  const own = async () => ({});
  const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ hooks: [own] }], FileChanged: [{ hooks: [own] }] } });
  expect(Object.keys(hooks).sort()).toEqual([...GUARDED_EVENTS, "FileChanged"].sort());
  expect(hooks.PreToolUse?.map(({ timeout }) => timeout)).toEqual([60, 120]);
  expect(hooks.PostToolUse?.map(({ timeout }) => timeout)).toEqual([60]);
  expect(hooks.FileChanged).toEqual([{ hooks: [own] }]);
});

test.each([
  [{ timeout: 30 }, 30],
  [{ timeout: 3600 }, 3600],
  [{ timeout: 60000 }, 60],
  [{ timeoutMs: 1500 }, 1.5],
  [{ timeout: 30, timeoutMs: 1500 }, 1.5],
])("the time-out %o is %d seconds", (limits, expected) => {
  const hooks = tenterhookHooks(client, {
    events: [],
    hooks: { PreToolUse: [{ hooks: [], matcher: "Bash", ...limits }] },
  });
  expect(hooks).toEqual({ PreToolUse: [{ hooks: [], matcher: "Bash", timeout: expected }] });
});

// seed: 000-017, 000-052
test("two minutes in milliseconds, as in older documents, are two minutes", () => {
  expect(patterns.twoMinutes(client).PreToolUse?.[0]?.timeout).toBe(120);
});

test("without a match the answer is empty, so that the client's own prompts appear", async () => {
  expect(await call(tenterhookHooks(client), "PreToolUse", bash("ls"))).toEqual([{}]);
  expect(await call(tenterhookHooks(client), "Stop", { stop_hook_active: false })).toEqual([{}]);
});

test("a rule's deny has the client's own format", async () => {
  const [output] = await call(tenterhookHooks(client), "PreToolUse", bash("rm -rf /"));
  expect(output).toMatchObject({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } });
});

/** A callback that changes the command. */
function changing(command: string): TenterhookHooksOptions {
  const updated = { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command } } as const;
  return { hooks: { PreToolUse: [{ hooks: [async () => ({ hookSpecificOutput: updated })] }] } };
}

test("an input that a callback changes is judged: unchanged or denied", async () => {
  const fine = await call(tenterhookHooks(client, changing("pwd")), "PreToolUse", bash("ls"));
  const allow = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } };
  expect(fine[0]).toEqual(allow);
  expect(fine[1]).toMatchObject({ hookSpecificOutput: { updatedInput: { command: "pwd" } } });
  const [, denied] = await call(tenterhookHooks(client, changing("rm -rf /")), "PreToolUse", bash("ls"));
  expect(denied).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
  expect(denied).not.toHaveProperty("hookSpecificOutput.updatedInput");
});

test("a changed input is judged at a permission, too; added permission rules are kept", async () => {
  const allowing = (updatedInput: object) => {
    const decision = { behavior: "allow", updatedInput, updatedPermissions: [{ type: "addRules" }] } as const;
    const own = async () => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } as const });
    return tenterhookHooks(client, { hooks: { PermissionRequest: [{ hooks: [own] }] } });
  };
  const asked = { tool_name: "Bash", tool_input: { command: "ls" } };
  const denied = await call(allowing({ command: "rm -rf /" }), "PermissionRequest", asked);
  expect(denied).toMatchObject([{}, { hookSpecificOutput: { decision: { behavior: "deny" } } }]);
  expect(denied[0]).toEqual({});
  const [, allowed] = await call(allowing({ command: "pwd" }), "PermissionRequest", asked);
  const decision = { behavior: "allow", updatedInput: { command: "pwd" }, updatedPermissions: [{ type: "addRules" }] };
  expect(allowed).toEqual({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } });
});

/** Hooks of a program whose callbacks give these answers. */
function answering(event: ClaudeHookEvent, ...outputs: HookJSONOutput[]): AgentSdkHooks {
  const hooks = outputs.map((output) => async () => output);
  return tenterhookHooks(client, { hooks: { [event]: [{ hooks }] } });
}

/** The records of a session. */
function decisions(session: string): Leaf[] {
  return daemon.ledger("--kind", "decision", "--session", session);
}

function traceOf(record: Leaf | undefined): { by: string }[] {
  return (record?.trace ?? []) as { by: string }[];
}

test("a deny of a callback is recorded once, with its name", async () => {
  const session_id = "denied-by-a-callback";
  async function blockDangerous(): Promise<HookJSONOutput> {
    const permissionDecisionReason = "Dangerous command blocked";
    return {
      systemMessage: "careful",
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason },
    };
  }
  const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ hooks: [async () => ({}), blockDangerous] }] } });
  const outputs = await call(hooks, "PreToolUse", { ...bash("touch x"), session_id });
  const deny = { permissionDecision: "deny", permissionDecisionReason: "Dangerous command blocked" };
  expect(outputs).toMatchObject([{}, { hookSpecificOutput: deny }, { hookSpecificOutput: deny }]);
  expect(outputs.map((output) => "systemMessage" in output)).toEqual([false, false, true]);
  const [record, ...others] = decisions(session_id);
  expect(others).toEqual([]);
  expect(record).toMatchObject({ verdict: "deny", reason: "Dangerous command blocked" });
  const by = traceOf(record).map((step) => step.by);
  expect(by.slice(0, 2)).toEqual(["hook:callback:PreToolUse-1", "hook:callback:blockDangerous"]);
});

// seed: 000-013, 000-028
test("answers that the client ignores are given in a form that it obeys", async () => {
  const stop = { continue: false, stopReason: "enough" } as const;
  const denied = { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "enough" } };
  expect(await call(answering("PreToolUse", stop), "PreToolUse", bash("ls"))).toMatchObject([
    { ...stop, ...denied },
    { ...stop, ...denied },
  ]);
  const block = { decision: "block", reason: "not now" } as const;
  const refused = { hookSpecificOutput: { decision: { behavior: "deny", message: "not now" } } };
  expect(await call(answering("PermissionRequest", block), "PermissionRequest", bash("ls"))).toMatchObject([
    refused,
    refused,
  ]);
  // The same at an event that is not sent to Tenterhook.
  const hooks = tenterhookHooks(client, { events: [], hooks: { PreToolUse: [{ hooks: [async () => stop] }] } });
  expect(await call(hooks, "PreToolUse", bash("ls"))).toMatchObject([{ ...stop, ...denied }]);
});

// seed: 000-065
test("a callback that throws or hangs has the client's usual effect and is recorded", async () => {
  const session_id = "failing";
  const { signal, abort } = abortable();
  const throws = async (): Promise<HookJSONOutput> => Promise.reject(new Error("oh no"));
  const hangs = () => new Promise<HookJSONOutput>(() => {});
  const fields = { ...base, hook_event_name: "PreToolUse", ...bash("ls"), session_id };
  for (const [hook, expected] of [
    [throws, { status: "failed", note: "oh no" }],
    [hangs, { status: "timed-out", decision: "deny" }],
  ] as const) {
    const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const [own, guard] = (hooks.PreToolUse ?? []).flatMap((entry) => entry.hooks);
    const running = own?.(fields, undefined, { signal });
    running?.catch(() => {});
    const asked = guard?.(fields, undefined, { signal: new AbortController().signal });
    if (hook === hangs) abort();
    await asked;
    expect(traceOf(decisions(session_id).at(-1))[0]).toMatchObject(expected);
  }
});

test("a callback that runs after Tenterhook's entry gets its own record", async () => {
  const session_id = "missed";
  const own = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } } as const;
  const [entry, guard] = (answering("PreToolUse", own).PreToolUse ?? []).flatMap((matcher) => matcher.hooks);
  const input = { ...base, hook_event_name: "PreToolUse", ...bash("ls"), session_id };
  const { signal } = new AbortController();
  expect(await guard?.(input, undefined, { signal })).toEqual({});
  expect(await entry?.(input, undefined, { signal })).toMatchObject(own);
  expect(decisions(session_id).map(({ verdict }) => verdict)).toEqual(["none", "ask"]);
});

test("without a daemon the answers of callbacks still count", async () => {
  const offline = daemon.client({ address: "/nowhere/tenterhook.sock" });
  const context = { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "noon" } } as const;
  const own = { UserPromptSubmit: [{ hooks: [async () => context] }] };
  const open = tenterhookHooks(offline, { hooks: own, onFailure: "continue" });
  expect(await call(open, "UserPromptSubmit", { prompt: "p" })).toEqual([{}, context]);
  const closed = tenterhookHooks(offline, { hooks: own });
  expect(await call(closed, "UserPromptSubmit", { prompt: "p" })).toMatchObject([{}, { decision: "block" }]);
});

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

test("without a daemon gates block, other events fail, and nothing is allowed", async () => {
  const offline = daemon.client({ address: "/nowhere/tenterhook.sock" });
  const hooks = tenterhookHooks(offline);
  expect(await call(hooks, "PreToolUse", bash("ls"))).toMatchObject([
    { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: /could not be reached/ } },
  ]);
  expect(await call(hooks, "PermissionRequest", bash("ls"))).toMatchObject([
    { hookSpecificOutput: { decision: { behavior: "deny" } } },
  ]);
  expect(await call(hooks, "UserPromptSubmit", { prompt: "p" })).toMatchObject([{ decision: "block" }]);
  await expect(call(hooks, "PostToolUse", bash("ls"))).rejects.toMatchObject({ code: "unavailable" });
  await expect(call(tenterhookHooks(offline, { onFailure: "continue" }), "PreToolUse", bash("ls"))).rejects.toThrow();
});

test("an aborted callback gives up", async () => {
  const [entry] = tenterhookHooks(client).PostToolUse ?? [];
  const aborted = AbortSignal.abort();
  const input = { ...base, hook_event_name: "PostToolUse", ...bash("ls"), tool_response: {} };
  await expect(entry?.hooks[0]?.(input, undefined, { signal: aborted })).rejects.toMatchObject({ code: "cancelled" });
});

// seed: 000-043
test("track todo updates", async () => {
  const updates: unknown[] = [];
  const hooks = patterns.trackTodos(client, (todos) => updates.push(todos));
  const todos = [{ content: "A", status: "pending" }];
  const fields = { tool_name: "TodoWrite", tool_input: { todos }, tool_use_id: "t", tool_response: {} };
  expect(await call(hooks, "PostToolUse", fields)).toEqual([{ continue: true }, {}]);
  expect(updates).toEqual([todos]);
});
