// SPDX-License-Identifier: Apache-2.0 OR MIT

import { status } from "@grpc/grpc-js";
import { TenterhookClient, TenterhookError } from "tenterhook";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ErrorCode } from "../../src/generated/tenterhook/v1/hooks.js";
import { Peer } from "./peer.js";

let peer: Peer;
let client: TenterhookClient;
let problems: Error[];

beforeEach(async () => {
  peer = new Peer();
  await peer.start();
  problems = [];
  client = new TenterhookClient({
    address: peer.address,
    readyTimeout: 3000,
    onError: (error) => problems.push(error),
  });
});

afterEach(async () => {
  await client.close();
  peer.end();
});

test("the client connects on first use, not before", async () => {
  expect([client.state, peer.streams]).toEqual(["idle", 0]);
  const id = client.registerHook("PreToolUse", () => {});
  expect([client.state, client.listHooks()[0]?.state]).toEqual(["connecting", "pending"]);
  await client.ready();
  expect([client.state, client.listHooks()[0]?.state]).toEqual(["connected", "active"]);
  expect(peer.registered.map((request) => request.hookId)).toEqual([id]);
});

// seed: 003-051, 003-055
test("hooks are registered in order, with all options", async () => {
  client.registerHook("PreToolUse", { id: "a", handler: () => {} });
  client.registerHook("PostToolUse", {
    id: "b",
    matcher: { tool: "Write", pathPattern: "*.rs" },
    handler: () => {},
    config: { priority: 10, timeout: 3000, async: false, failBehavior: "block", linger: 100 },
  });
  await client.ready();
  expect(peer.registered).toEqual([
    {
      eventType: "PreToolUse",
      hookId: "a",
      matcher: {},
      config: { priority: 0, timeoutMs: 0, async: false, failBehavior: 0, lingerMs: 0 },
    },
    {
      eventType: "PostToolUse",
      hookId: "b",
      matcher: { tool: "Write", pathPattern: "*.rs" },
      config: { priority: 10, timeoutMs: 3000, async: false, failBehavior: 2, lingerMs: 100 },
    },
  ]);
});

test("ready() reports a refused hook, once, and nothing else does", async () => {
  peer.refusals = [{ code: ErrorCode.ERROR_LIMIT, message: "maxHooksPerEvent 10 exceeded", hint: "take one back" }];
  const id = client.registerHook("PreToolUse", () => {});
  await expect(client.ready()).rejects.toMatchObject({ code: "limit", hint: "take one back" });
  await client.ready();
  expect(client.listHooks()).toMatchObject([{ id, state: "refused" }]);
  expect(await client.unregisterHook(id)).toBe(true);
  expect([client.listHooks(), peer.unregistered, problems]).toEqual([[], [], []]);
});

test("a refusal without a pending ready() is reported to onError", async () => {
  peer.refusals = [{ code: ErrorCode.ERROR_INVALID, message: "no such event", hint: "" }];
  client.registerHook("PreToolUse", { id: "x", handler: () => {} });
  await expect.poll(() => problems.map((error) => error.message)).toEqual(["hook `x` (PreToolUse): no such event"]);
});

// seed: 003-071
test("a broken connection is reopened, and only hooks that the daemon lost are registered again", async () => {
  const [kept, forgotten] = ["kept", "forgotten"];
  client.registerHook("PreToolUse", { id: kept, handler: () => {} });
  client.registerHook("PreToolUse", { id: forgotten, handler: () => {} });
  await client.ready();
  peer.hooks.delete(forgotten);
  peer.breakStream();
  await peer.until(() => peer.streams === 2);
  await client.ready();
  expect(peer.registered.map((request) => request.hookId)).toEqual([kept, forgotten, forgotten]);
});

test("a daemon that comes back as another process gets all hooks again", async () => {
  client.registerHook("PreToolUse", { id: "a", handler: () => {} });
  client.registerHook("PreToolUse", { id: "b", handler: () => {} });
  await client.ready();
  peer.stop({ forget: true });
  await expect.poll(() => client.state).toBe("connecting");
  await peer.start();
  await peer.until(() => peer.registered.length === 4);
  await client.ready();
  expect([...peer.hooks]).toEqual(["a", "b"]);
});

test("without a daemon ready() rejects with a hint, and the client keeps trying", async () => {
  peer.stop();
  const impatient = new TenterhookClient({ address: peer.address, readyTimeout: 300 });
  impatient.registerHook("PreToolUse", { id: "late", handler: () => {} });
  await expect(impatient.ready()).rejects.toMatchObject({ code: "unavailable", hint: /tenterhook start/ });
  await peer.start();
  await peer.until(() => peer.hooks.has("late"));
  await impatient.close();
  expect(peer.hooks.has("late")).toBe(false);
});

test.each([
  [status.ABORTED, "replaced"],
  [status.UNAUTHENTICATED, "unauthenticated"],
  [status.PERMISSION_DENIED, "refused"],
  [status.INVALID_ARGUMENT, "invalid"],
])("status %s is final", async (code, expected) => {
  peer.refuse = code;
  client.registerHook("PreToolUse", () => {});
  await expect(client.ready()).rejects.toMatchObject({ code: expected });
  expect(client.state).toBe("failed");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(peer.streams).toBe(1);
});

test("close unregisters all hooks; later calls fail", async () => {
  client.registerHook("PreToolUse", { id: "a", handler: () => {} });
  client.registerHook("Stop", { id: "b", handler: () => {} });
  await client.ready();
  await client.close();
  expect(peer.unregistered).toEqual(["a", "b"]);
  expect(() => client.registerHook("Stop", () => {})).toThrow(TenterhookError);
  await expect(client.ready()).rejects.toMatchObject({ code: "closed" });
});

test("a temporary hook exists for a block", async () => {
  {
    await using hook = await client.temporaryHook("PreToolUse", () => {});
    expect([...peer.hooks]).toEqual([hook.id]);
  }
  expect([...peer.hooks]).toEqual([]);
});

test("a hook unregistered before its registration is never sent", async () => {
  peer.stop();
  const id = client.registerHook("PreToolUse", () => {});
  const gone = client.unregisterHook(id);
  await peer.start();
  expect(await gone).toBe(true);
  expect(peer.registered).toEqual([]);
  expect(await client.unregisterHook(id)).toBe(false);
});
