// SPDX-License-Identifier: Apache-2.0 OR MIT

// Measures the round trip of one hook through this package and of a bare gRPC echo, alternating in the same run. Raw
// samples are stored in benches/runs. `TENTERHOOK_BIN` is the program, which should be an optimised build.
//
// There are two callers: a process that only makes calls, so that only this package differs from the echo (the same
// messages, decoded and encoded); and a real daemon, which reports how long a hook took.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release } from "node:os";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { startAsker } from "./beside-echo.mjs";
import { startDaemon } from "./with-daemon.mjs";

const [ROUNDS, PER_ROUND] = [40, 100];
/** The baseline of each measurement, and how much longer it may take. */
const LIMIT = 1.5;
const BESIDE = {
  "hook, asked by a process that only asks": "bare echo on a stream, messages",
  "hook, asked by the daemon": "bare echo, one call",
};
/** Ten thousand events per second through one stream. */
const FIXED = { "hook, one of 2000 asked at once": 100_000 };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const sides = [await startAsker(), await startDaemon(process.env.TENTERHOOK_BIN)];
const measures = Object.assign({}, ...sides.map(({ measures }) => measures));
const samples = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, measure] of Object.entries(measures)) {
    const taken = await measure(PER_ROUND);
    // The first round only warms up.
    if (round > 0) samples[name].push(...taken);
  }
}
for (const { stop } of sides) await stop();

const results = Object.entries(samples).map(([name, taken]) => measured(name, taken));
for (const { name, min_ns, median_ns, p95_ns, limit_ns } of results) {
  const times = [min_ns, median_ns, p95_ns, limit_ns].map((ns) => (ns === null ? "–" : `${(ns / 1000).toFixed(0)} µs`));
  const ratio = !(name.replace("sdk-typescript: ", "") in BESIDE)
    ? ""
    : `${((median_ns / limit_ns) * LIMIT).toFixed(2)} ×`;
  const over = limit_ns !== null && median_ns > limit_ns ? "  over" : "";
  console.log(name.padEnd(56), ...[...times, ratio].map((text) => text.padStart(9)), over);
}
keep(results);

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function measured(name, samples_ns) {
  const sorted = samples_ns.toSorted((a, b) => a - b);
  const [min_ns, p95_ns] = [sorted[0], sorted[Math.floor(sorted.length * 0.95)]];
  const limit_ns = name in BESIDE ? median(samples[BESIDE[name]]) * LIMIT : (FIXED[name] ?? null);
  const called = `sdk-typescript: ${name}`;
  return { name: called, calls_per_sample: 1, min_ns, median_ns: median(samples_ns), p95_ns, limit_ns, samples_ns };
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
    // `release`, unless another build is measured.
    daemon: basename(dirname(process.env.TENTERHOOK_BIN)),
    node: process.version,
    grpc: JSON.parse(readFileSync(here("../node_modules/@grpc/grpc-js/package.json"), "utf8")).version,
  };
  const name = `benches/runs/${at.replaceAll(":", "-")}-sdk-typescript.json`;
  writeFileSync(here(`../../../${name}`), `${JSON.stringify({ at, ran_on, results })}\n`);
  console.log(`kept: ${name}`);
}
