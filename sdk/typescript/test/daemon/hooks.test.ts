// SPDX-License-Identifier: Apache-2.0 OR MIT

import { HOOK_EVENT_TYPES, type HookEvent, type HookEventType, type TenterhookClient } from "tenterhook";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Daemon } from "./daemon.js";
import { bash, post, pre } from "./events.js";

let daemon: Daemon;
let client: TenterhookClient;
let agent: TenterhookClient;

beforeAll(async () => {
  daemon = await Daemon.start();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

beforeEach(() => {
  client = daemon.client({ name: "test/1", onError: () => {} });
  agent = daemon.client({ name: "agent" });
});

afterEach(async () => {
  await Promise.all([client.close(), agent.close()]);
});

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// seed: 003-029, 003-032
test("a block stops the call, and the agent reads the reason", async () => {
  client.registerHook("PreToolUse", () => ({ action: "block", reason: "not today" }));
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block", reason: "not today", decision: "deny" });
});

// seed: 003-028, 003-065
test("changed arguments are returned, and the rules judge them", async () => {
  const id = client.registerHook("PreToolUse", (event) => ({
    action: "continue",
    modified: { args: { ...event.args, timeout: 30000 } },
  }));
  await client.ready();
  const changed = await agent.fire(bash("ls"));
  expect(changed).toMatchObject({ action: "continue", modified: { args: { command: "ls", timeout: 30000 } } });

  await client.unregisterHook(id);
  client.registerHook("PreToolUse", () => ({ action: "continue", modified: { args: { command: "rm -rf /" } } }));
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block" });
});

// seed: 003-063
test("changes of several hooks are merged; in a conflict the later one wins and is named", async () => {
  const changes = (changed: object, priority: number) =>
    client.registerHook("PreToolUse", {
      config: { priority },
      handler: (event) => ({ action: "continue", modified: { args: { ...event.args, ...changed } } }),
    });
  const first = changes({ timeout: 30000 }, 1);
  changes({ description: "why" }, 2);
  await client.ready();
  const args = { command: "echo x", timeout: 30000, description: "why" };
  expect(await agent.fire(bash("echo x"))).toMatchObject({ action: "continue", modified: { args } });

  const last = changes({ timeout: 1 }, 3);
  await client.ready();
  const { eventId, modified } = await agent.fire(bash("echo x"));
  expect(modified).toEqual({ args: { ...args, timeout: 1 } });
  const leaf = daemon.ledger().find(({ id }) => id === eventId);
  expect(leaf?.trace).toContainEqual(
    expect.objectContaining({
      by: `hook:${last}`,
      note: `conflict: \`args.timeout\` (changed by \`${first}\`); the value of this hook is used`,
    }),
  );

  changes({ command: "rm -rf /" }, 0);
  await client.ready();
  expect(await agent.fire(bash("echo x")), "the merged call is judged").toMatchObject({ action: "block" });
});

// seed: 003-016
test("hooks for results receive a failed tool as a result without success", async () => {
  const heard: unknown[] = [];
  client.registerHook("PostToolUse", ({ result }) => {
    heard.push([result.success, result.output]);
  });
  await client.ready();
  const call = { sessionId: "s", tool: "Bash", args: { command: "ls" } };
  await agent.fire({ eventType: "ToolError", ...call, error: "boom", attempt: 1 });
  expect(heard).toEqual([[false, "boom"]]);
});

// seed: 003-031
test("a skip ignores later hooks, never earlier answers and never a rule", async () => {
  const asked: string[] = [];
  client.registerHook("PreToolUse", {
    config: { priority: 1 },
    handler: () => ({ action: "continue", modified: { args: { command: "pwd" } } }),
  });
  client.registerHook("PreToolUse", { config: { priority: 2 }, handler: () => ({ action: "skip" }) });
  client.registerHook("PreToolUse", {
    config: { priority: 3 },
    handler: () => {
      asked.push("late");
      return { action: "block", reason: "too late" };
    },
  });
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue", modified: { args: { command: "pwd" } } });
});

// seed: 003-030
test("a retry is called again with the count, and finally blocks", async () => {
  const attempts: number[] = [];
  client.registerHook("PreToolUse", (_, { attempt }) => {
    attempts.push(attempt);
    return attempt < 3 ? { action: "retry", delay: 10 } : { action: "continue" };
  });
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
  expect(attempts).toEqual([1, 2, 3]);

  client.registerHook("PreToolUse", () => ({ action: "retry", delay: 10 }));
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block" });
});

// seed: 003-072, 003-073
test("a failure has no effect unless configured to block", async () => {
  const broken = () => {
    throw new Error("boom");
  };
  const id = client.registerHook("PreToolUse", broken);
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
  await client.unregisterHook(id);
  client.registerHook("PreToolUse", { handler: broken, config: { failBehavior: "block" } });
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block", reason: expect.stringContaining("boom") });
});

test("at its timeout a handler's signal is aborted, and it is not waited for", async () => {
  const heard: unknown[] = [];
  client.registerHook("PreToolUse", {
    handler: async (_, { signal }) => {
      signal.addEventListener("abort", () => heard.push(signal.reason));
      await later(2000);
    },
    config: { timeout: 100, failBehavior: "block" },
  });
  await client.ready();
  const began = Date.now();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block" });
  expect(Date.now() - began).toBeLessThan(1500);
  await expect.poll(() => heard).toMatchObject([{ code: "timed-out" }]);
});

test("when the caller has gone, the handler is aborted", async () => {
  const heard: string[] = [];
  client.registerHook("PreToolUse", async (_, { signal }) => {
    heard.push("asked");
    signal.addEventListener("abort", () => heard.push((signal.reason as { code: string }).code));
    await later(3000);
  });
  await client.ready();
  const giveUp = new AbortController();
  const fired = agent.fire(bash("ls"), { signal: giveUp.signal });
  await expect.poll(() => heard).toEqual(["asked"]);
  giveUp.abort();
  await expect(fired).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(() => heard).toEqual(["asked", "cancelled"]);
});

test("an observer is called and not waited for", async () => {
  const seen: string[] = [];
  client.registerHook("PreToolUse", {
    handler: async (event) => {
      await later(100);
      seen.push(event.tool);
      return { action: "block", reason: "ignored" };
    },
    config: { async: true },
  });
  await client.ready();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
  await expect.poll(() => seen).toEqual(["Bash"]);
});

// seed: 003-034, 003-054
test("only matching hooks are called", async () => {
  const asked: string[] = [];
  const note = (name: string) => () => {
    asked.push(name);
  };
  client.registerHook("PreToolUse", { matcher: { tool: "Write" }, handler: note("tool") });
  client.registerHook("PreToolUse", { matcher: { pathPattern: "*.env" }, handler: note("path") });
  client.registerHook("PreToolUse", { matcher: { commandPattern: "^git push" }, handler: note("command") });
  await client.ready();
  await agent.fire(pre("Write", { file_path: "a/b/.env", content: "" }));
  expect(asked.splice(0).sort()).toEqual(["path", "tool"]);
  await agent.fire(bash("git push --tags"));
  await agent.fire(bash("git pull"));
  expect(asked).toEqual(["command"]);
});

test("an eleventh hook for one event and an invalid pattern are refused", async () => {
  for (let number = 0; number < 10; number += 1) client.registerHook("ContextWarning", () => {});
  await client.ready();
  client.registerHook("ContextWarning", () => {});
  await expect(client.ready()).rejects.toMatchObject({ code: "limit", message: /maxHooksPerEvent 10 exceeded/ });
  client.registerHook("PreToolUse", { matcher: { commandPattern: "(x" }, handler: () => {} });
  await expect(client.ready()).rejects.toMatchObject({ code: "invalid" });
});

// seed: 003-039, 003-042
test("a client lists its own hooks; the daemon lists all of them", async () => {
  const id = client.registerHook("PreToolUse", {
    matcher: { tool: "Bash" },
    handler: () => {},
    config: { priority: 7, timeout: 900, failBehavior: "block" },
  });
  const others = agent.registerHook("Stop", () => {});
  await Promise.all([client.ready(), agent.ready()]);
  expect(client.listHooks()).toMatchObject([{ id, event: "PreToolUse", state: "active" }]);
  const all = await client.listAllHooks();
  expect(all.find((hook) => hook.id === id)).toMatchObject({
    event: "PreToolUse",
    matcher: { tool: "Bash" },
    config: { priority: 7, timeout: 900, async: false, failBehavior: "block" },
    own: true,
    clientName: "test/1",
    connected: true,
  });
  expect(all.find((hook) => hook.id === others)).toMatchObject({ own: false, clientName: "agent" });
});

test("a client cannot take another hook's id or remove another client's hook", async () => {
  client.registerHook("PreToolUse", { id: "mine", handler: () => ({ action: "block", reason: "mine" }) });
  await client.ready();
  agent.registerHook("PreToolUse", { id: "mine", handler: () => {} });
  await expect(agent.ready()).rejects.toMatchObject({ code: "already-exists" });
  await agent.unregisterHook("mine");
  expect(await agent.fire(bash("ls"))).toMatchObject({ reason: "mine" });
});

test("a temporary hook", async () => {
  {
    await using _ = await client.temporaryHook("PreToolUse", () => ({ action: "block", reason: "for now" }));
    expect(await agent.fire(bash("ls"))).toMatchObject({ action: "block" });
  }
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

// seed: 003-004, 003-005, 003-006, 003-007, 003-008, 003-009, 003-010, 003-011, 003-012, 003-013, 003-014
// seed: 003-015, 003-017
test("every event calls its hook with the event's name", async () => {
  const told: string[] = [];
  for (const type of HOOK_EVENT_TYPES) {
    client.registerHook(type, ((event: HookEvent) => {
      told.push(event.eventType);
    }) as () => void);
  }
  await client.ready();
  const { tool, args } = { tool: "Bash", args: { command: "true" } };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const sessionId = "every";
  const model = { name: "m" };
  const more: Record<HookEventType, object> = {
    SessionStart: { source: "startup" },
    SessionEnd: { reason: "exit" },
    GenerateStart: { prompt: "p", model, tools: [] },
    GenerateEnd: { prompt: "p", model, response: { text: "", toolCalls: [], usage, duration: 1 } },
    PreToolUse: { tool, args },
    PostToolUse: { tool, args, result: { success: true, output: "", duration: 1 } },
    ToolError: { tool, args, error: "e", attempt: 1 },
    PermissionRequest: { tool, args },
    PermissionGranted: { tool, args },
    PermissionDenied: { tool, args },
    PreCompact: { trigger: "auto" },
    PostCompact: { trigger: "auto" },
    ContextWarning: { usage },
    UserPromptSubmit: { prompt: "p" },
    Stop: { stopHookActive: false },
    SubagentStart: { agentId: "a", agentType: "t" },
    SubagentStop: { agentId: "a", agentType: "t", stopHookActive: false },
    Notification: { message: "m" },
  };
  for (const eventType of HOOK_EVENT_TYPES) {
    const event = { eventType, sessionId, ...more[eventType] } as Parameters<typeof agent.fire>[0];
    expect(await agent.fire(event)).toMatchObject({ action: "continue" });
  }
  // A failed tool is also sent as a result.
  expect(told.toSorted()).toEqual([...HOOK_EVENT_TYPES, "PostToolUse"].toSorted());
});

test("every hook that answered is in the record", async () => {
  client.registerHook("PreToolUse", { id: "in-the-record", handler: () => ({ action: "block", reason: "recorded" }) });
  await client.ready();
  const { eventId } = await agent.fire(bash("ls"));
  const leaf = daemon.ledger().find((leaf) => leaf.id === eventId);
  expect(JSON.stringify(leaf)).toContain("in-the-record");
  expect(leaf).toMatchObject({ verdict: "deny" });
});

// seed: 003-080
test("more is recorded on request; recording less needs the user", async () => {
  expect(await client.setHookAuditLevel("verbose")).toBe("info");
  await expect(client.setHookAuditLevel("off")).rejects.toMatchObject({ code: "refused" });
  await expect(client.setHookAuditLevel("loud" as "off")).rejects.toMatchObject({ code: "invalid" });
});

test("two thousand events in flight, each with its own answer", async () => {
  client.registerHook("PreToolUse", async (event) => {
    await later(Math.random() * 20);
    return { action: "block", reason: `${event.args.command}` };
  });
  await client.ready();
  const numbers = Array.from({ length: 2000 }, (_, number) => number);
  const results = await Promise.all(numbers.map((number) => agent.fire(bash(`echo ${number}`))));
  expect(results.map((result) => result.reason)).toEqual(numbers.map((number) => `echo ${number}`));
}, 60_000);

test("listeners receive changed files and to-do lists", async () => {
  const heard: unknown[] = [];
  const stopFiles = client.onFileChanged(({ conversationId, file, toolName }) =>
    heard.push({ conversationId, file, toolName }),
  );
  const stopTodos = client.onTodoUpdate(({ conversationId, todos }) => heard.push({ conversationId, todos }));
  expect(client.listHooks()).toEqual([]);
  await client.ready();
  await agent.fire(post("Write", { file_path: "/w/a.ts", content: "" }));
  await agent.fire(post("TodoWrite", { todos: [{ content: "A", status: "pending" }] }));
  await expect
    .poll(() => heard)
    .toEqual([
      { conversationId: "session-1", file: "/w/a.ts", toolName: "Write" },
      { conversationId: "session-1", todos: [{ content: "A", status: "pending" }] },
    ]);
  stopFiles();
  stopTodos();
  await client.ready();
  expect(await client.listAllHooks()).toEqual([]);
});

test("events can be watched", async () => {
  const watching = new AbortController();
  const seen: unknown[] = [];
  const watched = (async () => {
    for await (const news of client.watch({ kinds: ["decided"], signal: watching.signal })) seen.push(news.data);
  })();
  await expect
    .poll(async () => {
      await agent.fire(bash("ls"));
      return seen.length;
    })
    .toBeGreaterThan(0);
  watching.abort();
  await watched;
  expect(seen[0]).toMatchObject({ session: "session-1" });
});
