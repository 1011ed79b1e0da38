// SPDX-License-Identifier: Apache-2.0 OR MIT

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, credentials } from "@grpc/grpc-js";
import { HookAction, HookServiceService } from "../dist/generated/tenterhook/v1/hooks.js";
import { TenterhookClient } from "../dist/index.js";
import { PAYLOAD } from "./payload.mjs";

/** Measures bytes, messages and a hook, called by the same process over the same kind of stream. */
export async function startAsker() {
  const dir = mkdtempSync(join(tmpdir(), "tenterhook-bench-"));
  const address = `unix:${join(dir, "bench.sock")}`;
  const asker = fork(fileURLToPath(new URL("asker.mjs", import.meta.url)), [address]);
  await once(asker, "message");

  const bare = new Client(address, credentials.createInsecure());
  const same = (bytes) => bytes;
  const { requestSerialize, responseDeserialize } = HookServiceService.hookStream;
  const bytes = bare.makeBidiStreamRequest("/bench.Echo/Bytes", same, same);
  bytes.on("data", (said) => bytes.write(said));
  const messages = bare.makeBidiStreamRequest("/bench.Echo/Messages", requestSerialize, responseDeserialize);
  messages.on("data", ({ hookId, eventId, callId, payload }) => {
    messages.write({ hookId, eventId, callId, action: HookAction.CONTINUE, modified: payload });
  });
  for (const stream of [bytes, messages]) {
    stream.on("error", () => {});
    await once(stream, "metadata");
  }

  const client = new TenterhookClient({ address });
  client.registerHook("PreToolUse", async () => ({ action: "continue" }));
  await client.ready();

  const ask = (who, together) => async (count) => {
    asker.send({ who, count: together ?? count, together });
    const [{ samples }] = await once(asker, "message");
    return samples;
  };
  const unary = () =>
    new Promise((resolve, reject) => {
      const done = (error, said) => (error ? reject(error) : resolve(said));
      bare.makeUnaryRequest("/bench.Echo/Unary", same, same, PAYLOAD, done);
    });
  return {
    measures: {
      "bare echo, one call": async (count) => {
        const samples = [];
        for (let number = 0; number < count; number += 1) {
          const began = process.hrtime.bigint();
          await unary();
          samples.push(Number(process.hrtime.bigint() - began));
        }
        return samples;
      },
      "bare echo on a stream, bytes": ask("bytes"),
      "bare echo on a stream, messages": ask("messages"),
      "hook, asked by a process that only asks": ask("sdk"),
      "hook, one of 2000 asked at once": ask("sdk", 2000),
    },
    async stop() {
      await client.close();
      bytes.cancel();
      messages.cancel();
      bare.close();
      asker.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
