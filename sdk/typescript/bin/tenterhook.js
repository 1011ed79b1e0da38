#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0 OR MIT

// The command `tenterhook`: runs the program from the package of this platform, `@tenterhook/<os>-<cpu>`.
// Those packages are optional dependencies, so that npm installs only the one for this platform. This file
// downloads nothing.

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const platform = `${process.platform}-${process.arch}`;
const packageName = `@tenterhook/${platform}`;

let program;
try {
  program = createRequire(import.meta.url).resolve(`${packageName}/bin/tenterhook`);
} catch {
  const lines = [
    `error: the program for ${platform} is not installed: package ${packageName} is missing`,
    "hint: it is an optional dependency; install again without `--omit=optional` or `--no-optional`:",
    "hint:   npm install --include=optional tenterhook",
    "hint: a platform without a package needs a build from source; the SDK works without the program",
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  process.exit(1);
}

const ran = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ran.error) {
  process.stderr.write(`error: ${program} could not be started: ${ran.error.message}\n`);
  process.exit(1);
}
process.exit(ran.signal ? 128 + constants.signals[ran.signal] : ran.status);
