// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type HookContext, type HookResponse, type PreToolUseEvent, TenterhookClient } from "tenterhook";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ErrorCode, HookAction } from "../../src/generated/tenterhook/v1/hooks.js";
import { Peer } from "./peer.js";

let peer: Peer;
let client: TenterhookClient;

beforeEach(async () => {
  peer = new Peer();
  await peer.start();
  client = new TenterhookClient({ address: peer.address, onError: () => {} });
});

afterEach(async () => {
  await client.close();
  peer.end();
});

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function register(handler: (event: PreToolUseEvent, context: HookContext) => unknown): Promise<string> {
  const id = client.registerHook("PreToolUse", handler as () => HookResponse);
  await client.ready();
  return id;
}

test.each<[string, unknown, object]>([
  ["nothing", undefined, { action: HookAction.CONTINUE }],
  ["continue", { action: "continue" }, { action: HookAction.CONTINUE }],
  [
    "a change",
    { action: "continue", modified: { args: { a: 1 } } },
    { action: HookAction.CONTINUE, modified: Buffer.from('{"args":{"a":1}}') },
  ],
  ["a block", { action: "block", reason: "no" }, { action: HookAction.BLOCK, reason: "no" }],
  ["a block without a reason", { action: "block" }, { action: HookAction.BLOCK, reason: expect.stringMatching(/./) }],
  ["a retry", { action: "retry", delay: 500 }, { action: HookAction.RETRY, retryDelayMs: 500 }],
  ["a retry without a delay", { action: "retry" }, { action: HookAction.RETRY }],
  ["a skip", { action: "skip" }, { action: HookAction.SKIP }],
])("%s is answered", async (_, returned, expected) => {
  const hook = await register(() => returned);
  const question = peer.ask(hook, { eventType: "PreToolUse" });
  const answer = await peer.answer(question);
  const { hookId, eventId, callId } = question;
  expect(answer).toEqual({ hookId, eventId, callId, error: undefined, ...expected });
});

test.each<[string, unknown, RegExp]>([
  ["a word", "block", /returned string/],
  ["no action", {}, /has no `action`/],
  ["an action nobody knows", { action: "deny" }, /`deny`; expected/],
  ["a name every object has", { action: "constructor" }, /`constructor`/],
  ["a change beside a skip", { action: "skip", modified: {} }, /only valid with `continue`/],
  ["a delay that is none", { action: "retry", delay: -1 }, /milliseconds/],
  ["a change that is no JSON", { action: "continue", modified: { args: 1n } }, /BigInt/],
])("%s is a failure that says so", async (_, returned, message) => {
  const hook = await register(() => returned);
  const { error } = await peer.answer(peer.ask(hook, {}));
  expect(error?.message).toMatch(message);
});

test("an error thrown by a handler is its failure", async () => {
  const hook = await register(async () => {
    throw new Error("boom");
  });
  const { error } = await peer.answer(peer.ask(hook, {}));
  expect(error).toEqual({ code: ErrorCode.ERROR_HANDLER, message: "boom", hint: "" });
});

test("answers come in any order, each to its call", async () => {
  const hook = await register(async (event) => {
    await later(Number(event.args.wait));
    return { action: "block", reason: String(event.args.name) };
  });
  const questions = [30, 0, 15].map((wait) => peer.ask(hook, { args: { wait, name: `after ${wait}` } }));
  const reasons = await Promise.all(questions.map(async (question) => (await peer.answer(question)).reason));
  expect(reasons).toEqual(["after 30", "after 0", "after 15"]);
  expect(peer.responses.map((response) => response.reason)).toEqual(["after 0", "after 15", "after 30"]);
});

test("a cancelled handler is aborted and does not answer", async () => {
  const heard: unknown[] = [];
  const hook = await register(async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    heard.push(signal.reason);
    return { action: "block", reason: "too late" };
  });
  const question = peer.ask(hook, {});
  await later(20);
  peer.cancel(question);
  await expect.poll(() => heard).toMatchObject([{ code: "cancelled" }]);
  await later(50);
  expect(peer.responses).toEqual([]);
});

test("at the time limit the handler is aborted, with or without a connection", async () => {
  const { promise, resolve } = waiting<unknown>();
  const hook = await register(async (_, { signal }) => {
    signal.addEventListener("abort", () => resolve(signal.reason));
    await later(300);
  });
  peer.ask(hook, {}, { timeoutMs: 50 });
  await later(10);
  peer.stop();
  expect(await promise).toMatchObject({ code: "timed-out" });
});

test("a call repeated after a break is not run again", async () => {
  let runs = 0;
  const gate = waiting<void>();
  const hook = await register(async () => {
    runs += 1;
    await gate.promise;
    return { action: "block", reason: "once" };
  });
  const question = peer.ask(hook, {});
  await expect.poll(() => runs).toBe(1);
  peer.breakStream();
  await peer.until(() => peer.streams === 2);
  peer.stream?.write({ ...question, redelivered: true });
  await later(20);
  gate.resolve();
  expect((await peer.answer(question)).reason).toBe("once");
  // The answer may have been lost in transit: it is sent again from memory.
  peer.stream?.write({ ...question, redelivered: true });
  await peer.until(() => peer.responses.length === 2);
  expect([runs, peer.responses[1]?.reason]).toEqual([1, "once"]);
});

test("an answer that was ready without a connection is sent when the call is repeated", async () => {
  let runs = 0;
  const gate = waiting<void>();
  const hook = await register(async () => {
    runs += 1;
    await gate.promise;
    return { action: "block", reason: "meanwhile" };
  });
  const question = peer.ask(hook, {});
  await expect.poll(() => runs).toBe(1);
  peer.stop();
  await expect.poll(() => client.state).toBe("connecting");
  gate.resolve();
  await later(20);
  await peer.start();
  await peer.until(() => peer.stream !== undefined);
  peer.stream?.write({ ...question, redelivered: true });
  expect((await peer.answer(question)).reason).toBe("meanwhile");
  expect([runs, peer.responses.length]).toEqual([1, 1]);
});

test("calls of a daemon that was restarted are cancelled", async () => {
  const { promise, resolve } = waiting<unknown>();
  const hook = await register(async (_, { signal }) => {
    await new Promise((abort) => signal.addEventListener("abort", abort));
    resolve(signal.reason);
    return { action: "block", reason: "too late" };
  });
  peer.ask(hook, {});
  await later(20);
  peer.stop({ forget: true });
  await peer.start();
  expect(await promise).toMatchObject({ code: "cancelled" });
  await client.ready();
  await later(20);
  expect(peer.responses).toEqual([]);
});

test("no answer is sent for an observer", async () => {
  const seen: string[] = [];
  const hook = await register((event) => {
    seen.push(event.tool);
    return { action: "block", reason: "ignored" };
  });
  peer.ask(hook, { tool: "Bash" }, { timeoutMs: 0 });
  await expect.poll(() => seen).toEqual(["Bash"]);
  await later(20);
  expect(peer.responses).toEqual([]);
});

test("an unknown hook and an invalid payload are failures", async () => {
  const hook = await register(() => {});
  const unknown = await peer.answer(peer.ask("nobody", {}));
  expect(unknown.error?.code).toBe(ErrorCode.ERROR_NOT_FOUND);
  const broken = await peer.answer(peer.ask(hook, {}, { payload: Buffer.from("{") }));
  expect(broken.error?.code).toBe(ErrorCode.ERROR_HANDLER);
});

test("two thousand concurrent calls each get their own answer", async () => {
  const hook = await register(async (event) => {
    await later(Math.random() * 20);
    return { action: "block", reason: `${event.args.number}` };
  });
  const questions = Array.from({ length: 2000 }, (_, number) => peer.ask(hook, { args: { number } }));
  await peer.until(() => peer.responses.length === questions.length);
  const reasons = new Map(peer.responses.map((response) => [response.callId, response.reason]));
  expect(questions.map(({ callId }) => reasons.get(callId))).toEqual(questions.map((_, number) => `${number}`));
});

function waiting<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
