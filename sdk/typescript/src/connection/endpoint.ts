// SPDX-License-Identifier: Apache-2.0 OR MIT

import { openSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { asError, TenterhookError } from "../errors.js";

/**
 * Address of the daemon. By default the client finds it through the environment variables that the program
 * `tenterhook` uses.
 */
export interface EndpointOptions {
  /** State directory; defaults to `$TENTERHOOK_HOME`, or else to the platform's default. */
  home?: string;
  /** `unix:/path` or `http://127.0.0.1:7878`; defaults to `$TENTERHOOK_DAEMON_URL`, else the socket in the state directory. */
  address?: string;
  /** Token for TCP; by default read from `run/token` in the state directory. */
  token?: string;
}

/** Address and token of a connection. */
export interface Endpoint {
  /** Target in the format of gRPC. */
  target: string;
  /** Token; only for TCP. */
  token?: string;
}

/** The environment through which the daemon is found. */
export interface ProcessEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
}

/** Longest path of a Unix socket. */
const MAX_SOCKET_PATH_BYTES = 107;

/** Finds the daemon. */
export function findEndpoint(options: EndpointOptions, { env, platform }: ProcessEnvironment = process): Endpoint {
  const address = options.address ?? (options.home ? undefined : env.TENTERHOOK_DAEMON_URL || undefined);
  const host = address && /^(?:https?:\/\/)?([^/]+:\d+)\/?$/.exec(address)?.[1];
  if (host && !address.startsWith("unix:")) {
    return { target: host, token: options.token ?? readToken(findHome(options, env, platform)) };
  }
  const path = address ? socketPath(address) : join(findHome(options, env, platform), "run/tenterhook.sock");
  return { target: `unix:${shortenSocketPath(path, platform)}` };
}

function findHome({ home }: EndpointOptions, env: ProcessEnvironment["env"], platform: NodeJS.Platform): string {
  const configured = home ?? (env.TENTERHOOK_HOME || undefined);
  if (configured) return configured;
  if (!env.HOME) {
    throw new TenterhookError(
      "invalid",
      "neither `HOME` nor `TENTERHOOK_HOME` is set",
      "pass the state directory: `new TenterhookClient({ home })`",
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
    `invalid daemon address \`${address}\``,
    "use `unix:/path/to/tenterhook.sock` or `http://127.0.0.1:7878`",
  );
}

function readToken(home: string): string {
  const path = join(home, "run/token");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new TenterhookError(
      "unavailable",
      `cannot read the token: ${asError(error).message}`,
      "start the daemon with `tenterhook start`, or pass `token` or the right `home`",
    );
  }
}

/** On Linux, shortens a path that is too long for a socket by using a file descriptor of its directory. */
function shortenSocketPath(path: string, platform: NodeJS.Platform): string {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES || platform !== "linux") return path;
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
    throw new TenterhookError("unavailable", asError(error).message, "start the daemon with `tenterhook start`");
  }
}

/** File descriptors of directories, for sockets with long paths. They stay open. */
const directories = new Map<string, number>();
