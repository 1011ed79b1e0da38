// SPDX-License-Identifier: Apache-2.0 OR MIT

// A connection that breaks while client and daemon keep running.

import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { TenterhookClient } from "tenterhook";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Daemon } from "./daemon.js";
import { bash, post } from "./events.js";

let daemon: Daemon;
let line: Line;
let client: TenterhookClient;
let agent: TenterhookClient;

/** A proxy to the daemon whose connections can be cut. */
class Line {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  /** Number of connections so far. */
  calls = 0;

  constructor(
    readonly path: string,
    to: string,
  ) {
    this.#server = createServer((near) => {
      this.calls += 1;
      const far = connect(to);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => this.#sockets.delete(socket));
      }
    }).listen(path);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

beforeEach(async () => {
  daemon = await Daemon.start();
  line = new Line(join(daemon.dir, "line.sock"), daemon.socket);
  client = daemon.client({ address: line.path });
  agent = daemon.client();
});

afterEach(async () => {
  await client.close();
  line.close();
  await daemon[Symbol.asyncDispose]();
});

test("a running hook continues, is not called twice, and its answer counts", async () => {
  let runs = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  client.registerHook("PreToolUse", async () => {
    runs += 1;
    await finished;
    return { action: "block", reason: "after all" };
  });
  await client.ready();
  const fired = agent.fire(bash("ls"));
  await expect.poll(() => runs).toBe(1);
  const before = line.calls;
  line.cut();
  // The connection may be back before its loss is visible.
  await expect.poll(() => line.calls).toBeGreaterThan(before);
  await expect.poll(() => client.state).toBe("connected");
  finish();
  expect(await fired).toMatchObject({ action: "block", reason: "after all" });
  expect(runs).toBe(1);
  expect(client.listHooks()).toMatchObject([{ state: "active" }]);
});

test("observers receive missed events when they are back", async () => {
  const seen: string[] = [];
  client.registerHook("PostToolUse", {
    handler: (event, { redelivered }) => {
      seen.push(`${event.args.file_path}${redelivered ? " later" : ""}`);
    },
    config: { async: true },
  });
  await client.ready();
  await agent.fire(post("Write", { file_path: "/a" }));
  await expect.poll(() => seen).toEqual(["/a"]);
  line.cut();
  await agent.fire(post("Write", { file_path: "/b" }));
  await expect.poll(() => seen.map((path) => path.slice(0, 2))).toEqual(["/a", "/b"]);
});
