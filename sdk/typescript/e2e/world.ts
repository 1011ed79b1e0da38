// SPDX-License-Identifier: Apache-2.0 OR MIT

// A temporary home with a project, a daemon, and a model that follows a script.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Options, query, type SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { Daemon } from "../test/daemon/daemon.js";

/** Replies of the model, turn by turn. */
export interface Turn {
  text?: string;
  tool_calls?: { name: string; input: Record<string, unknown> }[];
}

/** One run of the Agent SDK. */
export interface Run {
  messages: SDKMessage[];
  /** Results of tool calls that were sent to the model. */
  results: { text: string; isError: boolean }[];
  /** Requests to the model, as text. */
  requests: string[];
}

/** A turn that calls one tool. */
export function tool(name: string, input: Record<string, unknown>): Turn {
  return { tool_calls: [{ name, input }] };
}

/** A home, a project and a daemon. */
export class World implements AsyncDisposable {
  private constructor(readonly daemon: Daemon) {
    mkdirSync(join(this.project, ".git/objects"), { recursive: true });
    mkdirSync(join(this.project, ".git/refs"));
    writeFileSync(join(this.project, ".git/HEAD"), "ref: refs/heads/main\n");
  }

  static async make(): Promise<World> {
    return new World(await Daemon.start());
  }

  get project(): string {
    return join(this.daemon.dir, "project");
  }

  path(name: string): string {
    return join(this.project, name);
  }

  read(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : undefined;
  }

  /** A directory outside the project that must not be changed. */
  precious(): string {
    const precious = join(this.daemon.dir, "precious");
    mkdirSync(precious, { recursive: true });
    writeFileSync(join(precious, "thesis.txt"), "years of work\n");
    return precious;
  }

  /** Sends an agent one prompt and waits for its end. All permissions are granted, so only Tenterhook stops a call. */
  async run(turns: Turn[], { env, ...options }: Options): Promise<Run> {
    const messages: SDKMessage[] = [];
    const requests = await this.with(turns, async (usual) => {
      const all = { ...usual, ...options, env: { ...usual.env, ...env } };
      for await (const message of query({ prompt: "go", options: all })) messages.push(message);
    });
    return { messages, results: toolResults(messages), requests };
  }

  /** Calls a function with a model that follows the script; returns the requests to the model. */
  async with(turns: Turn[], body: (options: Options) => Promise<void>): Promise<string[]> {
    await using model = await Model.start(join(this.daemon.dir, "script.json"), turns);
    await body(this.options(model.url));
    return model.requests;
  }

  private options(url: string): Options {
    return {
      cwd: this.project,
      pathToClaudeCodeExecutable: named("TENTERHOOK_E2E_CLAUDE"),
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      settingSources: [],
      env: {
        PATH: process.env.PATH,
        HOME: this.daemon.dir,
        CLAUDE_CONFIG_DIR: join(this.daemon.dir, ".claude"),
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "dummy",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        // Without it the client refuses to skip permissions for root, which CI often is.
        IS_SANDBOX: "1",
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
  }
}

/** The scripted model, behind a proxy that stores the requests. */
class Model implements AsyncDisposable {
  readonly requests: string[] = [];

  private constructor(
    readonly server: ChildProcess,
    readonly door: Server,
  ) {}

  static async start(script: string, turns: Turn[]): Promise<Model> {
    writeFileSync(script, JSON.stringify({ turns }));
    const server = spawn(named("TENTERHOOK_E2E_MODEL_SERVER"), [script], { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = await once(server.stdout, "data");
    const door = createServer();
    const model = new Model(server, door);
    door.on("request", (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        const body = Buffer.concat(chunks);
        model.requests.push(body.toString());
        const { method, headers } = incoming;
        const passed = request(new URL(incoming.url ?? "/", String(line).trim()), { method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        passed.on("error", () => outgoing.destroy());
        passed.end(body);
      });
    });
    door.listen(0, "127.0.0.1");
    await once(door, "listening");
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.door.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.door.closeAllConnections();
    this.door.close();
    // It ends with its standard input.
    this.server.stdin?.end();
    if (this.server.exitCode === null) await once(this.server, "exit");
  }
}

function toolResults(messages: SDKMessage[]): Run["results"] {
  return messages.flatMap((message) => {
    const content = message.type === "user" ? message.message.content : [];
    return (typeof content === "string" ? [] : content).flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const text = typeof block.content === "string" ? block.content : JSON.stringify(block.content);
      return [{ text, isError: block.is_error === true }];
    });
  });
}

function named(variable: string): string {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set: \`make sdk-typescript-e2e\` does it`);
  return value;
}
