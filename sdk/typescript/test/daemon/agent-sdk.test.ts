// SPDX-License-Identifier: Apache-2.0 OR MIT

// What the Agent SDK gets from Tenterhook, called as the Agent SDK calls it. e2e/ runs the real one.

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
import { Daemon } from "./daemon.js";

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

/** Calls every callback of an event, one after the other. */
async function call(hooks: AgentSdkHooks, event: ClaudeHookEvent, fields: object): Promise<HookJSONOutput[]> {
  const { signal } = new AbortController();
  const outputs: HookJSONOutput[] = [];
  for (const { hooks: callbacks } of hooks[event] ?? []) {
    for (const callback of callbacks) {
      outputs.push(await callback({ ...base, hook_event_name: event, ...fields }, "toolu_1", { signal }));
    }
  }
  return outputs;
}

const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command }, tool_use_id: "toolu_1" });

test("every event has one entry of Tenterhook's, first", () => {
  const own = async () => ({});
  const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ hooks: [own] }], FileChanged: [{ hooks: [own] }] } });
  expect(Object.keys(hooks).sort()).toEqual([...GUARDED_EVENTS, "FileChanged"].sort());
  expect(hooks.PreToolUse?.map(({ timeout }) => timeout)).toEqual([60, undefined]);
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

test("the document's two minutes are two minutes", () => {
  expect(patterns.twoMinutes(client).PreToolUse?.[1]?.timeout).toBe(120);
});

test("nobody objects: nothing is said, so that the client's own questions are asked", async () => {
  expect(await call(tenterhookHooks(client), "PreToolUse", bash("ls"))).toEqual([{}]);
  expect(await call(tenterhookHooks(client), "Stop", { stop_hook_active: false })).toEqual([{}]);
});

test("a rule's deny is in the client's own words", async () => {
  const [output] = await call(tenterhookHooks(client), "PreToolUse", bash("rm -rf /"));
  expect(output).toMatchObject({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } });
});

/** A callback that has another command run. */
function changing(command: string): TenterhookHooksOptions {
  const updated = { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command } } as const;
  return { hooks: { PreToolUse: [{ hooks: [async () => ({ hookSpecificOutput: updated })] }] } };
}

test("what a callback changes is judged: fine as it is, or denied", async () => {
  const [, fine] = await call(tenterhookHooks(client, changing("pwd")), "PreToolUse", bash("ls"));
  expect(fine).toMatchObject({ hookSpecificOutput: { permissionDecision: "allow", updatedInput: { command: "pwd" } } });
  const [, denied] = await call(tenterhookHooks(client, changing("rm -rf /")), "PreToolUse", bash("ls"));
  expect(denied).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
  expect(denied).not.toHaveProperty("hookSpecificOutput.updatedInput");
});

test("at a permission, too", async () => {
  const decision = { behavior: "allow", updatedInput: { command: "rm -rf /" } } as const;
  const own = async () => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } as const });
  const hooks = tenterhookHooks(client, { hooks: { PermissionRequest: [{ hooks: [own] }] } });
  const [, output] = await call(hooks, "PermissionRequest", { tool_name: "Bash", tool_input: { command: "ls" } });
  expect(output).toMatchObject({ hookSpecificOutput: { decision: { behavior: "deny" } } });
});

test("without a daemon gates hold, others fail, and nothing is said to be allowed", async () => {
  const nobody = daemon.client({ address: "/nowhere/tenterhook.sock" });
  const hooks = tenterhookHooks(nobody);
  expect(await call(hooks, "PreToolUse", bash("ls"))).toMatchObject([
    { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: /could not be asked/ } },
  ]);
  expect(await call(hooks, "PermissionRequest", bash("ls"))).toMatchObject([
    { hookSpecificOutput: { decision: { behavior: "deny" } } },
  ]);
  expect(await call(hooks, "UserPromptSubmit", { prompt: "p" })).toMatchObject([{ decision: "block" }]);
  await expect(call(hooks, "PostToolUse", bash("ls"))).rejects.toMatchObject({ code: "unavailable" });
  await expect(call(tenterhookHooks(nobody, { onFailure: "continue" }), "PreToolUse", bash("ls"))).rejects.toThrow();
});

test("whoever is aborted gives up", async () => {
  const [entry] = tenterhookHooks(client).PostToolUse ?? [];
  const aborted = AbortSignal.abort();
  const input = { ...base, hook_event_name: "PostToolUse", ...bash("ls"), tool_response: {} };
  await expect(entry?.hooks[0]?.(input, undefined, { signal: aborted })).rejects.toMatchObject({ code: "cancelled" });
});

test("track todo updates", async () => {
  const updates: unknown[] = [];
  const hooks = patterns.trackTodos(client, (todos) => updates.push(todos));
  const todos = [{ content: "A", status: "pending" }];
  const fields = { tool_name: "TodoWrite", tool_input: { todos }, tool_use_id: "t", tool_response: {} };
  expect(await call(hooks, "PostToolUse", fields)).toEqual([{}, { continue: true }]);
  expect(updates).toEqual([todos]);
});
