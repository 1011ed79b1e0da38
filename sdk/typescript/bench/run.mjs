// SPDX-License-Identifier: Apache-2.0 OR MIT

// One hook's round trip through this package, beside a bare gRPC echo (the same messages, decoded and encoded, and nothing
// else): the same process asks both, in turns.

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, credentials } from "@grpc/grpc-js";
import { HookAction, HookServiceService } from "../dist/generated/tenterhook/v1/hooks.js";
import { TenterhookClient } from "../dist/index.js";

const [ROUNDS, PER_ROUND, WARM_UP] = [40, 100, 1000];
/** How much longer than the bare echo a hook may take. */
const LIMIT = 1.5;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "tenterhook-bench-"));
const address = `unix:${join(dir, "bench.sock")}`;
const asker = fork(here("asker.mjs"), [address]);
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

const samples = { bytes: [], messages: [], sdk: [] };
for (const who of Object.keys(samples)) await ask(who, WARM_UP);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [who, all] of Object.entries(samples)) all.push(...(await ask(who, PER_ROUND)));
}
await client.close();
bytes.cancel();
messages.cancel();
bare.close();
asker.kill();
rmSync(dir, { recursive: true, force: true });

const limit = median(samples.messages) * LIMIT;
const results = [
  measured("sdk-typescript: an echo of bytes", samples.bytes, null),
  measured("sdk-typescript: a bare gRPC echo", samples.messages, null),
  measured("sdk-typescript: a hook's round trip", samples.sdk, limit),
];
for (const { name, min_ns, median_ns, p95_ns, limit_ns } of results) {
  const times = [min_ns, median_ns, p95_ns, limit_ns].map((time) =>
    time === null ? "–" : `${(time / 1000).toFixed(0)} µs`,
  );
  const over = limit_ns !== null && median_ns > limit_ns ? "  over" : "";
  console.log(name.padEnd(44), ...times.map((time) => time.padStart(10)), over);
}
console.log(`${(median(samples.sdk) / median(samples.messages)).toFixed(2)} × the bare echo`);
keep(results);

async function ask(who, count) {
  asker.send({ who, count });
  const [{ samples }] = await once(asker, "message");
  return samples;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function measured(name, samples_ns, limit_ns) {
  const sorted = samples_ns.toSorted((a, b) => a - b);
  const [min_ns, p95_ns] = [sorted[0], sorted[Math.floor(sorted.length * 0.95)]];
  return { name, calls_per_sample: 1, min_ns, median_ns: median(samples_ns), p95_ns, limit_ns, samples_ns };
}

function keep(results) {
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  const ran_on = {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    kernel: release(),
    load: loadavg()
      .map((load) => load.toFixed(2))
      .join(" "),
    node: process.version,
    grpc: JSON.parse(readFileSync(here("../node_modules/@grpc/grpc-js/package.json"), "utf8")).version,
  };
  const path = here(`../../../benches/runs/${at.replaceAll(":", "-")}-sdk-typescript.json`);
  writeFileSync(path, `${JSON.stringify({ at, ran_on, results })}\n`);
  console.log(`kept: benches/runs/${at.replaceAll(":", "-")}-sdk-typescript.json`);
}
