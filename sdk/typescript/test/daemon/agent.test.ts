// SPDX-License-Identifier: Apache-2.0 OR MIT

// The daemon's agent, with a real daemon.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GenerateStep, SessionOptions, TenterhookClient } from "tenterhook";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { autoFormat } from "../../examples/hooks/auto-format.js";
import { generateReadOnly } from "../../examples/hooks/temporary.js";
import { Daemon } from "./daemon.js";

let daemon: Daemon;
let client: TenterhookClient;
let work: string;

beforeEach(async () => {
  daemon = await Daemon.start();
  client = daemon.client({ name: "mine" });
  work = join(daemon.dir, "work");
  mkdirSync(work);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await daemon[Symbol.asyncDispose]();
});

/** A session that only hooks and rules restrict; with turns, it has a model that follows them. */
function session(turns?: object[], options: SessionOptions = {}): Promise<string> {
  const script = join(daemon.dir, "script.yaml");
  if (turns) writeFileSync(script, JSON.stringify({ turns }));
  return client.createSession({
    workingDirectory: work,
    permissionMode: "bypassPermissions",
    ...(turns && { model: { provider: "scripted", script } }),
    ...options,
  });
}

/** Writes a program under a formatter's name that records its call. */
function formatter(name: string): void {
  const path = join(daemon.dir, "bin", name);
  mkdirSync(join(daemon.dir, "bin"), { recursive: true });
  writeFileSync(path, '#!/bin/sh\nfor last; do :; done\nprintf "formatted\\n" >> "$last"\n');
  chmodSync(path, 0o755);
}

// seed: 003-026
test("a turn can be run to its end or step by step", async () => {
  const id = await session([
    { say: "I look.", call: { Bash: { command: "echo here" } } },
    { say: "And I clear.", call: { Bash: { command: "rm -rf /" } } },
    { say: "Done." },
  ]);
  const steps: GenerateStep[] = [];
  for await (const step of client.generateStream(id, "Go")) steps.push(step);
  expect(steps.filter(({ type }) => type !== "moment")).toMatchObject([
    { type: "draft", text: "I look." },
    { type: "text", text: "I look." },
    { type: "toolCall", call: { name: "Bash", args: { command: "echo here" } } },
    { type: "toolResult", denied: false, result: { success: true, output: "here\n" } },
    { type: "draft", text: "And I clear." },
    { type: "text", text: "And I clear." },
    { type: "toolCall", call: { name: "Bash", args: { command: "rm -rf /" } } },
    { type: "toolResult", denied: true, result: { success: false } },
    { type: "draft", text: "Done." },
    { type: "text", text: "Done." },
    {
      type: "done",
      response: {
        text: "Done.",
        toolCalls: [
          { name: "Bash", args: { command: "echo here" } },
          { name: "Bash", args: { command: "rm -rf /" } },
        ],
      },
    },
  ]);
  const { text, usage } = await client.generate(id, "And now?");
  expect([text, usage.total_tokens > 0]).toEqual(["Done.", true]);
  await client.endSession(id, "enough");
  await expect(client.generate(id, "Still there?")).rejects.toMatchObject({ code: "not-found" });
  const kinds = daemon.ledger("--session", id).map(({ event }) => event);
  expect([kinds.at(0), kinds.at(-1)]).toEqual(["session-start", "session-end"]);
});

test("a tool is judged like any call", async () => {
  const id = await session();
  expect(await client.executeTool(id, "Bash", { command: "echo hi" })).toMatchObject({ success: true, output: "hi\n" });
  expect(await client.executeTool(id, "Bash", { command: "exit 3" })).toMatchObject({ success: false, exitCode: 3 });
  await expect(client.executeTool(id, "Bash", { command: "rm -rf /" })).rejects.toMatchObject({ code: "blocked" });
  const other = daemon.client({ name: "other" });
  await expect(other.executeTool(id, "Bash", { command: "ls" })).rejects.toMatchObject({ code: "not-found" });
  const late = client.executeTool(id, "Bash", { command: "sleep 60" }, { timeout: 200 });
  await expect(late).rejects.toMatchObject({ code: "timed-out" });
  const signal = AbortSignal.timeout(200);
  const given = client.executeTool(id, "Bash", { command: "sleep 60" }, { signal });
  await expect(given).rejects.toMatchObject({ code: "cancelled" });
});

test("ending the iteration cancels the turn", async () => {
  const id = await session([{ call: { Bash: { command: "touch begun; sleep 60" } } }, { say: "Done." }]);
  for await (const step of client.generateStream(id, "Go")) if (step.type === "toolCall") break;
  await vi.waitFor(async () => expect(await client.generate(id, "Go on")).toMatchObject({ text: "Done." }), 10_000);
});

// seed: 003-037, 003-094
test("auto-format: the formatter runs in the session, and the hook is not called about it", async () => {
  formatter("rustfmt");
  formatter("black");
  await daemon.end();
  vi.stubEnv("PATH", `${join(daemon.dir, "bin")}:${process.env.PATH}`);
  await daemon.serve();
  let asked = 0;
  client.registerHook("PostToolUse", { handler: () => void asked++, config: { async: true } });
  autoFormat(client);
  await client.ready();
  const id = await session([
    {
      calls: [
        { Write: { file_path: "main.rs", content: "fn main() {}\n" } },
        { Write: { file_path: "main.py", content: "pass\n" } },
        { Write: { file_path: "notes.txt", content: "text\n" } },
      ],
    },
    { say: "Written." },
  ]);
  await client.generate(id, "Write");
  const read = (name: string) => readFileSync(join(work, name), "utf8");
  expect(["main.rs", "main.py", "notes.txt"].map(read)).toEqual([
    "fn main() {}\nformatted\n",
    "pass\nformatted\n",
    "text\n",
  ]);
  await vi.waitFor(() => expect(asked).toBe(5), 10_000);
});

test("a hook without a matcher is not called about its own tool calls", async () => {
  let asked = 0;
  client.registerHook("PostToolUse", async (event) => {
    asked++;
    await client.executeTool(event.sessionId, "Bash", { command: `touch by-hook-${asked}` });
  });
  await client.ready();
  const id = await session();
  await client.executeTool(id, "Bash", { command: "true" });
  expect([asked, existsSync(join(work, "by-hook-1")), existsSync(join(work, "by-hook-2"))]).toEqual([1, true, false]);
});

// seed: 003-036
test("the tour's formatter and its other hooks work in a session", async () => {
  formatter("rustfmt");
  await daemon.end();
  vi.stubEnv("PATH", `${join(daemon.dir, "bin")}:${process.env.PATH}`);
  await daemon.serve();
  vi.stubEnv("TENTERHOOK_HOME", daemon.home);
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) =>
    sent.push(JSON.parse(body).usage.total_tokens),
  );
  vi.resetModules();
  const tour = await import("../../examples/hooks/tour.js");
  await tour.client.ready();
  client = tour.client;
  const id = await session([
    { call: { Write: { file_path: "main.rs", content: "fn main() {}\n" } } },
    { call: { Write: { file_path: "a.env", content: "API_KEY=1" } } },
    { say: "Done." },
  ]);
  expect(await client.generate(id, "Go")).toMatchObject({ text: "Done." });
  expect(readFileSync(join(work, "main.rs"), "utf8")).toBe("fn main() {}\nformatted\n");
  expect(existsSync(join(work, "a.env"))).toBe(false);
  expect(sent).toHaveLength(3);
  await tour.client.close();
  vi.unstubAllGlobals();
});

test("a temporary hook exists for one turn", async () => {
  const turns = [{ call: { Bash: { command: "touch a" } } }, { say: "Done." }];
  expect(await generateReadOnly(client, await session(turns), "Go")).toBe("Done.");
  expect(existsSync(join(work, "a"))).toBe(false);
  await client.generate(await session(turns), "Go");
  expect(existsSync(join(work, "a"))).toBe(true);
});

test("a failed tool is retried if a hook asks for it", async () => {
  client.registerHook("ToolError", () => ({ action: "retry", delay: 20 }));
  await client.ready();
  const fired = await client.fire({
    eventType: "ToolError",
    sessionId: "s",
    tool: "Bash",
    args: { command: "ls" },
    error: "boom",
    attempt: 1,
  });
  expect(fired).toMatchObject({ action: "retry", delay: 20 });
  const id = await session();
  const once = "test -e there || { touch there; exit 1; }";
  expect(await client.executeTool(id, "Bash", { command: once })).toMatchObject({ success: true });
});

test("in the default mode the user is asked, and in plan mode nothing is changed", async () => {
  const plan = await session(undefined, { permissionMode: "plan" });
  const write = { file_path: "a", content: "" };
  await expect(client.executeTool(plan, "Write", write)).rejects.toMatchObject({ code: "blocked" });
  expect(await client.executeTool(plan, "Glob", { pattern: "*" })).toMatchObject({ success: true });
  client.registerHook("PermissionRequest", () => ({ action: "block", reason: "User denied permission" }));
  await client.ready();
  const asks = await session(undefined, { permissionMode: "default" });
  await expect(client.executeTool(asks, "Write", write)).rejects.toMatchObject({ summary: "User denied permission" });
});
