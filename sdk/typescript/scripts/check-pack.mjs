// SPDX-License-Identifier: Apache-2.0 OR MIT

// check-pack.mjs: packs the package, installs it in an empty directory and follows the guide there, against a real daemon
// in a temporary home. `TENTERHOOK_BIN` is the program.

import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = process.env.TENTERHOOK_BIN ?? fail("TENTERHOOK_BIN is not set: `make sdk-typescript` does it");
const dir = mkdtempSync(join(tmpdir(), "tenterhook-pack-"));
const home = join(dir, "home");
const app = join(dir, "app");
const env = { PATH: process.env.PATH, HOME: dir, TENTERHOOK_HOME: home };
const running = [];

try {
  mkdirSync(app);
  install();
  const [guard, attempt] = guideBlocks("sdk-typescript.md");
  const [agent] = guideBlocks("your-agent.md");
  writeFileSync(join(app, "guard.mjs"), guard);
  writeFileSync(join(app, "try.mjs"), attempt);
  writeFileSync(join(app, "agent.mjs"), agent);
  checkTypes();
  await start(program, ["serve", "--listen", "none"], /ready on/);
  const guarding = await start("node", ["guard.mjs"], /on guard/);
  const run = async (file) => (await promisify(execFile)("node", [file], { cwd: app, env, timeout: 20_000 })).stdout;
  expect(await run("try.mjs"), "block: releases are made by CI\n");
  const [done, refused] = (await run("agent.mjs")).split("\n");
  expect(done, "README.md");
  expect(refused.split(",")[0], "not done: This would delete a whole directory tree outside the project");
  // The SDK's own line is on standard error, so its position among the others varies.
  const [connected, rest] = [true, false].map((own) =>
    guarding.output.split("\n").filter((line) => line.startsWith("tenterhook: ") === own),
  );
  expect(connected, ["tenterhook: guard is connected to the daemon"]);
  expect(rest, ["on guard", "asked about: npm publish", ""]);
  console.log("the packed package works in an empty directory");
} finally {
  for (const { child } of running.reverse()) {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  rmSync(dir, { recursive: true, force: true });
}

function install() {
  const said = npm(root, "pack", "--json", "--silent", "--pack-destination", dir);
  // The output of the package's own scripts comes first.
  const [{ filename, files }] = JSON.parse(said.slice(said.search(/^\[$/m)));
  const unwanted = files
    .map(({ path }) => path)
    .filter((path) => !/^(bin\/|dist\/|LICENSE-|README\.md|package\.json)/.test(path));
  expect(unwanted, []);
  npm(app, "init", "--yes");
  npm(app, "install", "--prefer-offline", "--no-audit", "--no-fund", join(dir, filename));
}

/** Code blocks of a guide that the reader saves as files. */
function guideBlocks(name) {
  const guide = readFileSync(join(root, "../../docs/guide", name), "utf8");
  return [...guide.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1]);
}

/** Checks that the compiler finds the types and accepts them. */
function checkTypes() {
  const source = [
    'import { type HookResponse, type PreToolUseEvent, TenterhookClient } from "tenterhook";',
    'import { EXIT_CODE_BLOCKING_ERROR, BeforeToolHookOutput } from "tenterhook/llxprt";',
    "const client: TenterhookClient = new TenterhookClient();",
    "const handler = (event: PreToolUseEvent): HookResponse => ({ action: 'block', reason: event.tool });",
    "export const id: string = client.registerHook('PreToolUse', handler);",
    "export const code: 2 = EXIT_CODE_BLOCKING_ERROR;",
    "export const blocks: boolean = new BeforeToolHookOutput({ decision: 'deny' }).isBlockingDecision();",
  ];
  writeFileSync(join(app, "types.mts"), source.join("\n"));
  const tsc = join(root, "node_modules/.bin/tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--lib",
    "es2023,esnext.disposable",
  ];
  const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
  execFileSync(tsc, [...flags, ...types, "--skipLibCheck", "types.mts"], { cwd: app, env, stdio: "inherit" });
}

/** Starts a program; resolves when it reports that it is ready. */
async function start(command, args, there) {
  const child = spawn(command, args, { cwd: app, env, stdio: ["ignore", "pipe", "pipe"] });
  const started = { child, output: "" };
  running.push(started);
  await new Promise((resolve, reject) => {
    const hear = (data) => {
      started.output += data;
      if (there.test(started.output)) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => reject(new Error(`${command} has ended: ${started.output}`)));
  });
  child.removeAllListeners("exit");
  return started;
}

function npm(cwd, ...args) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function expect(found, expected) {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
  }
}

function fail(message) {
  throw new Error(message);
}
