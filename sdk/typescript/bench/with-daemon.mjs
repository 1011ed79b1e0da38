// SPDX-License-Identifier: Apache-2.0 OR MIT

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TenterhookClient } from "../dist/index.js";

const HOOK = "bench";
const EVENT = { eventType: "PreToolUse", sessionId: "bench", tool: "Bash", args: { command: "npm test" } };

/** Measures a hook called by a real daemon, as timed by the daemon, and the time to fire an event. */
export async function startDaemon(program) {
  if (!program) throw new Error("TENTERHOOK_BIN is not set: `make sdk-typescript-bench` does it");
  const dir = mkdtempSync(join(tmpdir(), "tenterhook-bench-"));
  const env = { PATH: process.env.PATH, HOME: dir, TENTERHOOK_HOME: join(dir, "home") };
  const daemon = spawn(program, ["serve", "--listen", "none", "--relaxed"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(daemon.stdout, "data");
  const client = new TenterhookClient({ home: env.TENTERHOOK_HOME });

  const fire = async (count, sample) => {
    const samples = [];
    for (let number = 0; number < count; number += 1) {
      const began = process.hrtime.bigint();
      const { outcome } = await client.fire(EVENT);
      samples.push(sample(Number(process.hrtime.bigint() - began), outcome));
    }
    return samples;
  };
  const withHook = async (count, sample) => {
    client.registerHook("PreToolUse", { id: HOOK, handler: async () => ({ action: "continue" }) });
    await client.ready();
    const samples = await fire(count, sample);
    await client.unregisterHook(HOOK);
    return samples;
  };
  const took = (_, outcome) => outcome.trace.find(({ by }) => by === `hook:${HOOK}`).took_us * 1000;
  const whole = (ns) => ns;
  return {
    measures: {
      "hook, asked by the daemon": (count) => withHook(count, took),
      "fire, no hook": (count) => fire(count, whole),
      "fire, one hook": (count) => withHook(count, whole),
    },
    async stop() {
      await client.close();
      daemon.kill();
      await once(daemon, "exit");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
