// SPDX-License-Identifier: Apache-2.0 OR MIT

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type EndpointOptions, findEndpoint } from "../../src/connection/endpoint.js";

const home = mkdtempSync(join(tmpdir(), "tenterhook-endpoint-"));
afterAll(() => rmSync(home, { recursive: true }));

type Env = Record<string, string>;
const find = (options: EndpointOptions, env: Env = {}, platform: NodeJS.Platform = "linux") =>
  findEndpoint(options, { env, platform });

test.each<[string, EndpointOptions, Env, NodeJS.Platform, string]>([
  ["the platform's place", {}, { HOME: "/h" }, "linux", "unix:/h/.local/state/tenterhook/run/tenterhook.sock"],
  ["XDG", {}, { HOME: "/h", XDG_STATE_HOME: "/x" }, "linux", "unix:/x/tenterhook/run/tenterhook.sock"],
  [
    "XDG that is not absolute",
    {},
    { HOME: "/h", XDG_STATE_HOME: "x" },
    "linux",
    "unix:/h/.local/state/tenterhook/run/tenterhook.sock",
  ],
  [
    "macOS",
    {},
    { HOME: "/h", XDG_STATE_HOME: "/x" },
    "darwin",
    "unix:/h/Library/Application Support/Tenterhook/run/tenterhook.sock",
  ],
  ["a home that is named", {}, { HOME: "/h", TENTERHOOK_HOME: "/t" }, "linux", "unix:/t/run/tenterhook.sock"],
  ["a home that is said", { home: "/s" }, { TENTERHOOK_HOME: "/t" }, "linux", "unix:/s/run/tenterhook.sock"],
  ["a daemon that is named", {}, { TENTERHOOK_DAEMON_URL: "unix:///d/x.sock" }, "linux", "unix:/d/x.sock"],
  ["an address that is said", { address: "/d/x y.sock" }, { TENTERHOOK_HOME: "/t" }, "linux", "unix:/d/x y.sock"],
])("the daemon is found by %s", (_, options, env, platform, target) => {
  expect(find(options, env, platform)).toEqual({ target });
});

test("over TCP the token is given, or read from the state directory", () => {
  mkdirSync(join(home, "run"));
  writeFileSync(join(home, "run/token"), "secret\n");
  const address = "http://127.0.0.1:7878";
  expect(find({ address, token: "t" })).toEqual({ target: "127.0.0.1:7878", token: "t" });
  expect(find({ address, home })).toEqual({ target: "127.0.0.1:7878", token: "secret" });
  expect(() => find({ address, home: "/nowhere" })).toThrow(/cannot read the token/);
});

test("an invalid address and a missing home are reported", () => {
  expect(() => find({ address: "tcp//x" })).toThrow(/invalid daemon address `tcp\/\/x`.*unix:/);
  expect(() => find({})).toThrow(/neither `HOME` nor `TENTERHOOK_HOME`/);
});

test("a path that is too long for a socket is reached through its directory", () => {
  const long = join(home, "a".repeat(100));
  mkdirSync(long);
  expect(find({ address: join(long, "x.sock") }).target).toMatch(/^unix:\/proc\/self\/fd\/\d+\/x\.sock$/);
});
