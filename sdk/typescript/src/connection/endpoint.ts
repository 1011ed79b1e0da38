// SPDX-License-Identifier: Apache-2.0 OR MIT

import { openSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { asError, TenterhookError } from "../errors.js";

/** Where the daemon is. Unless said, the environment and the platform decide, as for the program `tenterhook`. */
export interface EndpointOptions {
  /** Tenterhook's home. Unless said: `$TENTERHOOK_HOME`, else the platform's place. */
  home?: string;
  /** `unix:/path` or `http://127.0.0.1:7878`. Unless said: `$TENTERHOOK_DAEMON_URL`, else the socket in the home. */
  address?: string;
  /** For TCP. Unless said, it is read from `run/token` in the home. */
  token?: string;
}

/** Where to connect to, and what to show there. */
export interface Endpoint {
  /** As gRPC writes it. */
  target: string;
  /** For TCP only. */
  token?: string;
}

/** What the search may look at. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
}

/** The longest path the kernel takes for a socket, in bytes. */
const LONGEST_PATH = 107;

/** Finds the daemon. */
export function findEndpoint(options: EndpointOptions, { env, platform }: Surroundings = process): Endpoint {
  const address = options.address ?? (options.home ? undefined : env.TENTERHOOK_DAEMON_URL || undefined);
  const host = address && /^(?:https?:\/\/)?([^/]+:\d+)\/?$/.exec(address)?.[1];
  if (host && !address.startsWith("unix:")) {
    return { target: host, token: options.token ?? readToken(findHome(options, env, platform)) };
  }
  const path = address ? socketPath(address) : join(findHome(options, env, platform), "run/tenterhook.sock");
  return { target: `unix:${shortened(path, platform)}` };
}

function findHome({ home }: EndpointOptions, env: Surroundings["env"], platform: NodeJS.Platform): string {
  const said = home ?? (env.TENTERHOOK_HOME || undefined);
  if (said) return said;
  if (!env.HOME) {
    throw new TenterhookError(
      "invalid",
      "neither `HOME` nor `TENTERHOOK_HOME` is set",
      "say where Tenterhook's home is: `new TenterhookClient({ home })`",
    );
  }
  if (platform === "darwin") return join(env.HOME, "Library/Application Support/Tenterhook");
  const state = env.XDG_STATE_HOME;
  return join(state && isAbsolute(state) ? state : join(env.HOME, ".local/state"), "tenterhook");
}

function socketPath(address: string): string {
  const path = address.replace(/^unix:(?:\/\/(?=\/))?/, "");
  if (isAbsolute(path)) return path;
  throw new TenterhookError(
    "invalid",
    `\`${address}\` is no address of a daemon`,
    "it is `unix:/path/to/tenterhook.sock` or `http://127.0.0.1:7878`",
  );
}

function readToken(home: string): string {
  const path = join(home, "run/token");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new TenterhookError(
      "unavailable",
      `the token cannot be read: ${asError(error).message}`,
      "the daemon writes it when it starts: `tenterhook start`; or give `token`, or the `home` whose `run/token` has it",
    );
  }
}

/** What is too long for a socket's address is reached through the open directory, where there is such a thing. */
function shortened(path: string, platform: NodeJS.Platform): string {
  if (Buffer.byteLength(path) <= LONGEST_PATH || platform !== "linux") return path;
  let descriptor = directories.get(dirname(path));
  if (descriptor === undefined) {
    descriptor = openDirectory(path);
    directories.set(dirname(path), descriptor);
  }
  return `/proc/self/fd/${descriptor}/${basename(path)}`;
}

function openDirectory(path: string): number {
  try {
    return openSync(dirname(path), "r");
  } catch (error) {
    throw new TenterhookError("unavailable", asError(error).message, "`tenterhook start` starts the daemon");
  }
}

/** Directories that were opened for their sockets; there is rarely one, and it stays open. */
const directories = new Map<string, number>();
