// SPDX-License-Identifier: Apache-2.0 OR MIT

// A real daemon in a temporary home.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClientOptions, TenterhookClient } from "tenterhook";

/** One record of the ledger. */
export type Leaf = Record<string, unknown> & { verdict?: string; event?: string };

/** A daemon and its home. */
export class Daemon {
  readonly dir = mkdtempSync(join(tmpdir(), "th-sdk-"));
  readonly home = join(this.dir, "home");
  readonly #clients: TenterhookClient[] = [];
  #process: ChildProcess | undefined;
  #output = "";

  /** Starts a daemon; `settings` is its `tenterhook.yaml`. */
  static async start(settings?: object): Promise<Daemon> {
    const daemon = new Daemon();
    mkdirSync(daemon.home, { recursive: true });
    // JSON is YAML.
    if (settings) writeFileSync(join(daemon.home, "tenterhook.yaml"), JSON.stringify(settings));
    await daemon.serve();
    return daemon;
  }

  /** File with the address of the running daemon. */
  get #who(): string {
    return join(this.home, "run/daemon.json");
  }

  get socket(): string {
    return join(this.home, "run/tenterhook.sock");
  }

  /** A client of this daemon; it is closed with the daemon. */
  client(options: ClientOptions = {}): TenterhookClient {
    const client = new TenterhookClient({ home: this.home, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Starts the daemon and waits until it listens. */
  async serve(listen = "none"): Promise<void> {
    const daemon = spawn(program(), ["serve", "--listen", listen], {
      env: this.env(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = daemon;
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream?.on("data", (data) => {
        this.#output += data;
      });
    }
    while (!(existsSync(this.#who) && (await this.#listens()))) {
      if (daemon.exitCode !== null) throw new Error(`the daemon has ended:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** TCP address of the daemon, if it listens on one. */
  address(): string {
    return JSON.parse(readFileSync(this.#who, "utf8")).listen;
  }

  /** Ends the daemon with a signal. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const daemon = this.#process;
    this.#process = undefined;
    if (!daemon || daemon.exitCode !== null) return;
    const exited = once(daemon, "exit");
    daemon.kill(signal);
    await exited;
  }

  /** The records, oldest first. */
  ledger(...filter: string[]): Leaf[] {
    const found = JSON.parse(this.run("ledger", "query", "--limit", "10000", "--json", ...filter));
    return found.leaves.map(({ leaf }: { leaf: Leaf }) => leaf).reverse();
  }

  /** Runs the program in this home. */
  run(...args: string[]): string {
    return execFileSync(program(), args, { env: this.env(), encoding: "utf8" });
  }

  env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.dir, TENTERHOOK_HOME: this.home };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.end();
    rmSync(this.dir, { recursive: true, force: true });
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.socket);
      socket.on("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
  }
}

function program(): string {
  const program = process.env.TENTERHOOK_BIN;
  if (!program) throw new Error("TENTERHOOK_BIN is not set: `make sdk-typescript` builds the program and runs these");
  return program;
}
