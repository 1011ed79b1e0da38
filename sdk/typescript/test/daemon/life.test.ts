// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ClientState, TenterhookClient } from "tenterhook";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Daemon } from "./daemon.js";
import { bash } from "./events.js";

let daemon: Daemon;
let client: TenterhookClient;
let states: ClientState[];

beforeEach(async () => {
  daemon = await Daemon.start();
  states = [];
  client = daemon.client({ onStateChange: (state) => states.push(state) });
});

afterEach(async () => {
  await daemon[Symbol.asyncDispose]();
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "hooks come back after the daemon was ended by %s and started anew",
  async (signal) => {
    client.registerHook("PreToolUse", { id: "stays", handler: () => ({ action: "block", reason: "still here" }) });
    await client.ready();
    await daemon.end(signal);
    await expect.poll(() => client.state).toBe("connecting");
    await daemon.serve();
    await client.ready();
    expect(states).toEqual(["connecting", "connected", "connecting", "connected"]);
    expect(await client.fire(bash("ls"))).toMatchObject({ reason: "still here" });
  },
);

test("a client that is closed leaves nothing behind", async () => {
  client.registerHook("PreToolUse", { handler: () => {}, config: { failBehavior: "block" } });
  await client.ready();
  await client.close();
  const agent = daemon.client();
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
  expect(await agent.listAllHooks()).toEqual([]);
});

// seed: 003-040, 003-041
test("hooks unregistered without waiting are gone when the client is closed", async () => {
  const ids = Array.from({ length: 8 }, () =>
    client.registerHook("PreToolUse", { handler: () => {}, config: { failBehavior: "block" } }),
  );
  await client.ready();
  for (const id of ids) client.unregisterHook(id);
  await client.close();
  const agent = daemon.client();
  expect(await agent.listAllHooks()).toEqual([]);
  expect(await agent.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

/** Starts another program with a hook; resolves to its first line. */
async function program(): Promise<{ child: ChildProcess; said: string }> {
  const source = `
    import { TenterhookClient } from "${new URL("../../dist/index.js", import.meta.url)}";
    const client = new TenterhookClient();
    client.registerHook("PreToolUse", { handler: () => {}, config: { failBehavior: "block" } });
    await client.ready().then(() => console.log("ready"), (error) => console.log(error.code));
  `;
  const args = ["--input-type=module", "--eval", source];
  const child = spawn("node", args, { env: daemon.env(), stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await once(child.stdout, "data");
  return { child, said: String(said).trim() };
}

test("the hooks of a killed program fail soon, as configured", async () => {
  const { child, said } = await program();
  expect(said).toBe("ready");
  child.kill("SIGKILL");
  await once(child, "exit");
  const began = Date.now();
  expect(await client.fire(bash("ls"))).toMatchObject({ action: "block" });
  expect(Date.now() - began).toBeLessThan(3000);
});

test("a process that a guarded agent starts cannot register hooks", async () => {
  // From here on this process counts as an agent.
  await client.fire(bash("ls"));
  const { child, said } = await program();
  child.kill();
  expect(said).toBe("refused");
  expect(await client.fire(bash("ls"))).toMatchObject({ action: "continue" });
});

test("hooks work over TCP, with the token", async () => {
  await daemon.end();
  await daemon.serve("127.0.0.1:0");
  const address = `http://${daemon.address()}`;
  const remote = daemon.client({ address });
  remote.registerHook("PreToolUse", () => ({ action: "block", reason: "over TCP" }));
  await remote.ready();
  expect(await remote.fire(bash("ls"))).toMatchObject({ reason: "over TCP" });
  const stranger = daemon.client({ address, token: "wrong", onError: () => {} });
  stranger.registerHook("PreToolUse", () => {});
  await expect(stranger.ready()).rejects.toMatchObject({ code: "unauthenticated" });
});
