// SPDX-License-Identifier: Apache-2.0 OR MIT

// Every example of examples/hooks, against a real daemon.

import type { TenterhookClient } from "tenterhook";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { costTracking } from "../../examples/hooks/cost-tracking.js";
import { failures } from "../../examples/hooks/failures.js";
import { permissionEscalation } from "../../examples/hooks/permission-escalation.js";
import { securityPolicy } from "../../examples/hooks/security-policy.js";
import { settings } from "../../examples/hooks/settings.js";
import { fireReadOnly } from "../../examples/hooks/temporary.js";
import { Daemon } from "./daemon.js";
import { bash, generated, permission, pre } from "./events.js";

let daemon: Daemon;
let client: TenterhookClient;
let agent: TenterhookClient;

beforeEach(async () => {
  daemon = await Daemon.start();
  client = daemon.client({ name: "example" });
  agent = daemon.client({ name: "agent" });
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await daemon[Symbol.asyncDispose]();
});

// seed: 003-093
test("security policy", async () => {
  securityPolicy(client);
  await client.ready();
  for (const command of ["mkfs.ext4 disk.img", "dd if=a of=/dev/null", "echo x > /dev/sdz"]) {
    const { action, reason } = await agent.fire(bash(command));
    expect([command, action, reason]).toEqual([command, "block", expect.stringContaining("Blocked dangerous command")]);
  }
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

// seed: 003-095
test("cost tracking", async () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  const usage = costTracking(client, (model, tokens) => (model.name === "large" ? tokens / 100 : 0));
  await client.ready();
  await agent.fire(generated("large", 900));
  await agent.fire(generated("small", 50));
  expect([usage, warned.mock.calls]).toEqual([{ totalTokens: 950, totalCost: 9 }, []]);
  await agent.fire(generated("large", 200));
  expect(warned.mock.calls).toEqual([["Session cost exceeded $10: $11.00"]]);
});

// seed: 003-010, 003-096
test("permission escalation", async () => {
  const shown: unknown[] = [];
  permissionEscalation(client, async (question) => {
    shown.push(question);
    return question.message.includes("ls");
  });
  await client.ready();
  expect(await agent.fire(permission("Bash", { command: "ls" }))).toMatchObject({ action: "continue" });
  const refused = await agent.fire(permission("Bash", { command: "make" }));
  expect(refused).toMatchObject({ action: "block", reason: "User denied permission" });
  await agent.fire(permission("Read", { file_path: "/w/a" }));
  expect(shown).toEqual([
    { title: "Allow Bash?", message: 'The agent wants to execute: {"command":"ls"}', timeout: 30000 },
    { title: "Allow Bash?", message: 'The agent wants to execute: {"command":"make"}', timeout: 30000 },
  ]);
});

test("failures and settings: hooks without an answer do not block", async () => {
  failures(client);
  settings(client);
  await client.ready();
  expect(client.listHooks().map(({ config }) => config)).toEqual([
    {},
    { failBehavior: "block" },
    { priority: 10, timeout: 3000, async: false, failBehavior: "block" },
  ]);
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

// seed: 003-081, 003-082, 003-083, 003-084
test("at level verbose, every step of a hook is recorded", async () => {
  settings(client);
  await client.ready();
  const id = client.registerHook("PreToolUse", (event) =>
    event.args.command === "ls"
      ? { action: "block", reason: "no" }
      : { action: "continue", modified: { args: { command: "pwd" } } },
  );
  await client.ready();
  await agent.fire(bash("ls"));
  await agent.fire(bash("date"));
  await client.unregisterHook(id);
  const record = JSON.stringify(daemon.ledger());
  const missing = ["registered", "unregistered", "started", "completed", "blocked", "modified"].filter(
    (word) => !new RegExp(`hook[-. ]${word}`).test(record),
  );
  expect(missing).toEqual([]);
});

test("a temporary hook exists for one task", async () => {
  const results = await fireReadOnly(client, [bash("ls"), pre("Read", { file_path: "/w/a" })]);
  expect(results.map(({ action }) => action)).toEqual(["block", "continue"]);
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

// seed: 003-025, 003-032, 003-033, 003-034, 003-035, 003-039, 003-040, 003-042
test("the whole tour", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (url: string, { body }: { body: string }) => sent.push([url, JSON.parse(body)]));
  vi.stubEnv("TENTERHOOK_HOME", daemon.home);
  const tour = await import("../../examples/hooks/tour.js");
  await tour.client.ready();
  expect(tour.hooks.map(({ event }) => event)).toEqual([
    ...Array.from({ length: 3 }, () => "PreToolUse"),
    "PostToolUse",
    "GenerateEnd",
  ]);
  expect(tour.hooks.map(({ id }) => id)).not.toContain(tour.hookId);

  // Rules may deny the same call as the hook; the outcome names which counted.
  const bomb = await agent.fire(bash(":(){ :|:& };:"));
  expect(JSON.stringify(bomb.outcome)).toContain("Dangerous command blocked by security policy");
  const secret = await agent.fire(pre("Write", { file_path: "config/.env", content: "API_KEY=1" }));
  expect(secret).toMatchObject({ action: "block", reason: expect.stringContaining("Cannot write API keys") });
  expect(await agent.fire(pre("Write", { file_path: "config/a.txt", content: "API_KEY=1" }))).toMatchObject({
    action: "continue",
  });
  const changed = await agent.fire(bash("ls"));
  expect(changed).toMatchObject({ action: "continue", modified: { args: { command: "ls", timeout: 30000 } } });
  await agent.fire(generated("m", 12));
  expect(sent).toEqual([
    ["https://metrics.example.com/log", { session: "session-1", usage: expect.objectContaining({ total_tokens: 12 }) }],
  ]);
  await tour.client.close();
  vi.unstubAllGlobals();
});
