// SPDX-License-Identifier: Apache-2.0 OR MIT

// Every callback of examples/agent-sdk, with the real Agent SDK.

import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TenterhookClient, tenterhookHooks } from "tenterhook";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as chorus from "../examples/agent-sdk/chorus.js";
import { start } from "../examples/agent-sdk/configuration.js";
import * as habits from "../examples/agent-sdk/habits.js";
import * as patterns from "../examples/agent-sdk/patterns.js";
import { tool, World } from "./world.js";

let world: World;
let client: TenterhookClient;

beforeEach(async () => {
  world = await World.make();
  client = world.daemon.client();
  vi.spyOn(console, "log").mockImplementation(() => {});
});

afterEach(async () => {
  vi.restoreAllMocks();
  await world[Symbol.asyncDispose]();
});

const write = (name: string) => tool("Write", { file_path: world.path(name), content: "text" });

// seed: 000-001, 000-003, 000-014, 000-015
test("hook configuration: your own callbacks work together with Tenterhook's", async () => {
  const turns = [write("a.txt"), tool("Bash", { command: "true" })];
  const printed = vi.mocked(console.log);
  await world.with(turns, async (options) => {
    for await (const message of start(client, options)) expect(message).toBeDefined();
  });
  expect(printed.mock.calls).toEqual([
    ["Writing to:", world.path("a.txt")],
    ["Tool completed:", "Write"],
    ["Tool completed:", "Bash"],
  ]);
});

// seed: 000-042
test("log file changes", async () => {
  const changed: string[] = [];
  const hooks = patterns.logFileChanges(client, (path) => changed.push(path));
  await world.run([write("a.txt"), tool("Bash", { command: "touch b.txt" })], { hooks });
  expect(changed).toEqual([world.path("a.txt")]);
});

// seed: 000-043, 000-056
test("track todo updates, here and in Chorus", async () => {
  const todos = [{ content: "A", status: "pending", activeForm: "Doing A" }];
  // Newer clients have other tools for this; the tool of the pattern must be requested.
  const env = { CLAUDE_CODE_ENABLE_TASKS: "0", CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" };
  const updates: unknown[] = [];
  await world.run([tool("TodoWrite", { todos })], {
    env,
    hooks: patterns.trackTodos(client, (list) => updates.push(list)),
  });
  expect(updates).toEqual([todos]);
  const sent: unknown[] = [];
  const window = { webContents: { send: (...message: unknown[]) => sent.push(message) } };
  await world.run([tool("TodoWrite", { todos })], {
    env,
    hooks: chorus.interceptTodos(client, window, "conversation-1"),
  });
  expect(sent).toEqual([["agent:todo-update", { conversationId: "conversation-1", todos }]]);
});

// seed: 000-002, 000-035, 000-044
test("block dangerous commands", async () => {
  mkdirSync(world.path("build"));
  const hooks = patterns.blockDangerous(client);
  const { results } = await world.run([tool("Bash", { command: "rm -rf build" })], { hooks });
  expect(results).toMatchObject([{ isError: true, text: expect.stringContaining("Dangerous command blocked") }]);
});

// seed: 000-038, 000-045
test("modify tool input", async () => {
  await world.run([write("a.ts")], { hooks: patterns.addHeader(client) });
  expect(world.read("a.ts")).toBe("// Auto-generated\ntext");
});

// seed: 000-046
test("subagent coordination", async () => {
  const completed: string[][] = [];
  const hooks = patterns.coordinateSubagents(client, (id, transcript) => completed.push([id, transcript]));
  const task = {
    description: "look",
    prompt: "look around",
    subagent_type: "general-purpose",
    run_in_background: false,
  };
  await world.run([tool("Agent", task), { text: "seen" }, { text: "done" }], { hooks });
  expect(completed).toEqual([[expect.stringMatching(/./), expect.stringMatching(/\.jsonl$/)]]);
});

// seed: 000-041, 000-047
test("add context to prompts", async () => {
  const { requests } = await world.run([{ text: "done" }], { hooks: patterns.tellTheTime(client) });
  expect(requests.join()).toMatch(/Current time: 20\d\d-/);
});

// seed: 000-053
test("async hooks: the agent does not wait for them", async () => {
  let finish = () => {};
  const indexed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const seen: string[] = [];
  const hooks = patterns.indexInTheBackground(client, (path) => {
    seen.push(path);
    return indexed;
  });
  const { results } = await world.run([write("a.txt")], { hooks });
  finish();
  expect([results.length, seen]).toEqual([1, [world.path("a.txt")]]);
});

// seed: 000-055, 000-067
test("Chorus: file changes reach the window", async () => {
  const sent: unknown[] = [];
  const window = { webContents: { send: (...message: unknown[]) => sent.push(message) } };
  await world.run([write("a.txt"), tool("Bash", { command: "true" })], {
    hooks: chorus.trackFiles(client, window, "conversation-1"),
  });
  const file = { conversationId: "conversation-1", file: world.path("a.txt"), toolUseId: expect.stringMatching(/./) };
  expect(sent).toEqual([["agent:file-changed", file]]);
});

// seed: 000-063, 000-065
test("best practices: fast hooks, handled errors, matchers", async () => {
  const emitted: unknown[] = [];
  const analyzed = vi.fn(async () => {});
  await world.run([write("a.txt")], { hooks: habits.quick(client, (...what) => emitted.push(what), analyzed) });
  expect([emitted, analyzed.mock.calls.length]).toEqual([[["file-changed", world.path("a.txt")]], 1]);

  const complained = vi.spyOn(console, "error").mockImplementation(() => {});
  const fails = habits.graceful(client, async () => {
    throw new Error("nobody there");
  });
  const { results } = await world.run([write("b.txt")], { hooks: fails });
  expect(results).toMatchObject([{ isError: false }]);
  expect(complained.mock.calls).toMatchObject([["Hook error:", { message: "nobody there" }]]);

  await world.run([write("c.txt")], { hooks: habits.matched(client) });
  expect(world.read("c.txt")).toBe("text");
});

// seed: 000-018
test("best practices: the signal is passed on", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await world.run([write("a.txt")], { hooks: habits.respectful(client, url) });
  server.close();
  expect([asked, world.read("a.txt")]).toEqual([1, "text"]);
});

// seed: 000-064, 000-069
test("a callback that takes too long: the tool does not run, and the callback is aborted", async () => {
  let aborted = false;
  const hooks = tenterhookHooks(client, {
    hooks: {
      PreToolUse: [
        {
          timeoutMs: 1000,
          hooks: [
            async (_input, _id, { signal }) => {
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
              aborted = true;
              return {};
            },
          ],
        },
      ],
    },
  });
  await world.run([write("a.txt")], { hooks });
  expect([world.read("a.txt"), aborted]).toEqual([undefined, true]);
});
