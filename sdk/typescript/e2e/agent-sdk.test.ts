// SPDX-License-Identifier: Apache-2.0 OR MIT

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HookCallback, Options } from "@anthropic-ai/claude-agent-sdk";
import { type TenterhookClient, tenterhookHooks } from "tenterhook";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as patterns from "../examples/agent-sdk/patterns.js";
import { tool, World } from "./world.js";

let world: World;
let client: TenterhookClient;

beforeEach(async () => {
  world = await World.make();
  client = world.daemon.client();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

test("one line: the policy applies, the ledger has a record, and the model reads the reason", async () => {
  const precious = world.precious();
  const turns = [tool("Bash", { command: `rm -rf ${precious}` }), tool("Bash", { command: "echo fine > fine.txt" })];
  const { results } = await world.run(turns, { hooks: tenterhookHooks(client) });
  expect(existsSync(join(precious, "thesis.txt"))).toBe(true);
  expect(world.read("fine.txt")).toBe("fine\n");
  expect(results.map(({ isError }) => isError)).toEqual([true, false]);
  const decisions = world.daemon.ledger("--kind", "decision").map((leaf) => {
    const { source, native_event, verdict } = leaf as Record<string, string>;
    return `${source} ${native_event} ${verdict}`;
  });
  expect(decisions).toEqual(
    expect.arrayContaining([
      "claude-code PreToolUse deny",
      "claude-code PreToolUse none",
      "claude-code PostToolUse none",
    ]),
  );
});

test("an input that a callback changes is judged before it runs", async () => {
  const precious = world.precious();
  const hooks = tenterhookHooks(client, {
    hooks: {
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            async () => ({
              hookSpecificOutput: {
                hookEventName: "PreToolUse",
                permissionDecision: "allow",
                updatedInput: { command: `rm -rf ${precious}` },
              },
            }),
          ],
        },
      ],
    },
  });
  const { results } = await world.run([tool("Bash", { command: "echo harmless" })], { hooks });
  expect(existsSync(join(precious, "thesis.txt"))).toBe(true);
  expect(results).toMatchObject([{ isError: true }]);
});

// seed: 000-018
test("callbacks with the Agent SDK's own types are accepted", () => {
  const callback: HookCallback = async (input) => ({ systemMessage: input.hook_event_name });
  const hooks: Options["hooks"] = tenterhookHooks(client, { hooks: { PreToolUse: [{ hooks: [callback] }] } });
  expect(hooks?.PreToolUse?.map((entry) => entry.hooks.length)).toEqual([1, 1]);
});

test("without a daemon nothing runs, or everything if configured", async () => {
  await world.daemon.end();
  const turns = [tool("Bash", { command: "echo ran > ran.txt" })];
  // A prompt is a gate too: the model is not called.
  const events = ["PreToolUse"] as const;
  const { results } = await world.run(turns, { hooks: tenterhookHooks(client, { events }) });
  expect(world.read("ran.txt")).toBeUndefined();
  expect(results[0]?.text).toMatch(/Tenterhook could not be reached.*tenterhook start/);
  await world.run(turns, { hooks: tenterhookHooks(client, { events, onFailure: "continue" }) });
  expect(world.read("ran.txt")).toBe("ran\n");
});

test("hooks of other programs receive the event and can decide", async () => {
  const other = world.daemon.client({ name: "other" });
  other.registerHook("PreToolUse", {
    matcher: { tool: "Bash", commandPattern: "npm publish" },
    handler: (event) => ({ action: "block", reason: `not ${event.args.command}` }),
  });
  await other.ready();
  const { results } = await world.run([tool("Bash", { command: "npm publish" })], { hooks: tenterhookHooks(client) });
  expect(results[0]?.text).toMatch(/not npm publish/);
});

// seed: 000-057, 000-059
test("the app's store is filled automatically: files and to-dos", async () => {
  const { store, conversationDetails } = await import("../examples/agent-sdk/chorus.js");
  const panels = store(world.daemon.client());
  const turns = [
    tool("Write", { file_path: world.path("a.txt"), content: "a" }),
    tool("TaskCreate", { subject: "write b", description: "then c" }),
  ];
  const { messages } = await world.run(turns, {
    hooks: tenterhookHooks(client),
    tools: ["Write", "TaskCreate", "TaskUpdate"],
  });
  const session = messages.find((message) => "session_id" in message)?.session_id ?? "";
  await expect
    .poll(() => conversationDetails(panels, session))
    .toEqual([
      { heading: "Files Changed", rows: [{ key: world.path("a.txt"), path: world.path("a.txt") }] },
      { heading: "Todo List", rows: [{ key: "write b", content: "write b", status: "pending" }] },
    ]);
});

/** The latest session, from `sessions show`. */
function session(): Record<string, unknown> {
  const { sessions } = JSON.parse(world.daemon.run("sessions", "list", "--json"));
  return JSON.parse(world.daemon.run("sessions", "show", sessions[0].id, "--json"));
}

/** Records of tool calls before they run. */
function calls(): Record<string, unknown>[] {
  return world.daemon.ledger("--kind", "decision").filter(({ event }) => event === "pre-tool");
}

// seed: 000-060
test("a call that a callback denies is a denied call: one record, nothing changed", async () => {
  const turns = [tool("Bash", { command: "rm -rf ./x" })];
  const { results } = await world.run(turns, { hooks: patterns.blockDangerous(client) });
  expect(results).toMatchObject([{ isError: true, text: expect.stringContaining("Dangerous command blocked") }]);
  expect(calls()).toMatchObject([{ verdict: "deny", reason: "Dangerous command blocked" }]);
  const [denied] = calls();
  expect(denied?.trace).toMatchObject([{ by: "hook:callback:PreToolUse-1", decision: "deny" }]);
  expect(session()).toMatchObject({
    changed_files: [],
    calls: { calls: 1, ok: 0, failed: 0, denied: 1 },
    denials: [{ rule: "hook:callback:PreToolUse-1" }],
  });
});

// seed: 000-061
test("a call that a callback changes counts once, with the lines that were written", async () => {
  const path = world.path("a.ts");
  await world.run([tool("Write", { file_path: path, content: "one\ntwo\n" })], { hooks: patterns.addHeader(client) });
  expect(world.read("a.ts")).toBe("// Auto-generated\none\ntwo\n");
  expect(calls()).toHaveLength(1);
  expect(session()).toMatchObject({
    calls: { calls: 1, ok: 1, failed: 0, denied: 0 },
    changed_files: [{ path, changes: 1, added: 3, removed: 0 }],
  });
});

// seed: 000-003
test("after a tool has run a callback cannot undo it", async () => {
  const blocks = async () => ({ decision: "block", reason: "too late" }) as const;
  const hooks = tenterhookHooks(client, { hooks: { PostToolUse: [{ hooks: [blocks] }] } });
  await world.run([tool("Write", { file_path: world.path("a.txt"), content: "text" })], { hooks });
  expect(world.read("a.txt")).toBe("text");
});

// seed: 000-028
test("`continue: false` before a tool stops the tool", async () => {
  const stops = async () => ({ continue: false, stopReason: "enough" });
  const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [stops] }] } });
  await world.run([tool("Bash", { command: "touch ran" })], { hooks });
  expect(world.read("ran")).toBeUndefined();
  expect(calls()).toMatchObject([{ verdict: "none", flow: { stop: { reason: "enough" } } }]);
  expect(session()).toMatchObject({ changed_files: [] });
});

// seed: 000-012, 000-013
test("`decision: block` at a permission stops the tool, even if `canUseTool` allows it later", async () => {
  const blocks = async () => ({ decision: "block", reason: "not now" }) as const;
  const hooks = tenterhookHooks(client, { hooks: { PermissionRequest: [{ hooks: [blocks] }] } });
  const canUseTool = async (_tool: string, updatedInput: Record<string, unknown>) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    return { behavior: "allow", updatedInput } as const;
  };
  const { results } = await world.run([tool("Bash", { command: "touch ran" })], {
    hooks,
    canUseTool,
    permissionMode: "default",
    allowDangerouslySkipPermissions: false,
  });
  expect(world.read("ran")).toBeUndefined();
  expect(results).toMatchObject([{ isError: true, text: expect.stringContaining("not now") }]);
  const asked = world.daemon.ledger("--kind", "decision").filter(({ event }) => event === "permission-request");
  expect(asked).toMatchObject([{ verdict: "deny", reason: "not now" }]);
  expect(session()).toMatchObject({ changed_files: [], calls: { calls: 1, ok: 0, denied: 1 } });
});

test("the client still selects callbacks: a tool name of an older version matches", async () => {
  const seen: string[] = [];
  const note = async (input: { tool_name: string }) => {
    seen.push(input.tool_name);
    return {};
  };
  const hooks = tenterhookHooks(client, { hooks: { PreToolUse: [{ matcher: "Task", hooks: [note] }] } });
  const task = { description: "look", prompt: "look around", subagent_type: "general-purpose" };
  await world.run([tool("Agent", task), { text: "seen" }, { text: "done" }], { hooks });
  expect(seen).toEqual(["Agent"]);
});
