// SPDX-License-Identifier: Apache-2.0 OR MIT

import { randomBytes } from "node:crypto";
import {
  createSession,
  endSession,
  executeTool,
  type GenerateStep,
  generate,
  type SessionOptions,
  turn,
  type WorkOptions,
} from "./agent.js";
import { type AuditLevel, type AuditProof, setAuditLevel } from "./audit.js";
import type { EndpointOptions } from "./connection/endpoint.js";
import { type ClientState, Link } from "./connection/link.js";
import type { Generation, HookEventType, ToolArgs, ToolResult } from "./events/index.js";
import {
  type FiredEvent,
  type FireOptions,
  type FireResult,
  fire,
  fireNative,
  type NativeEvent,
  type NativeResult,
} from "./fire.js";
import { type ListedHook, listed } from "./hooks/list.js";
import type { HookHandler, HookRegistration, RegisteredHook } from "./hooks/types.js";
import { type FileChanged, Observer, type TodoUpdate } from "./observe.js";
import { type News, type WatchOptions, watch } from "./watch.js";

/** Who a client is, where its daemon is, and who hears of trouble. */
export interface ClientOptions extends EndpointOptions {
  /** What people see as the owner of this client's hooks, such as `my-agent/1.2`. */
  name?: string;
  /** How long `ready()` waits, in milliseconds: 10000 unless said. */
  readyTimeout?: number;
  /** Hears of what goes wrong when nobody waits for it in `ready()`. Unless said, Node prints a warning. */
  onError?: (error: Error) => void;
  /** Hears when the connection comes and goes. Unless said, one line on standard error tells that it is there. */
  onStateChange?: (state: ClientState) => void;
}

/** One line on standard error, so that a program that only registers hooks does not look stuck. */
function sayConnected(state: ClientState, name = "typescript-sdk"): void {
  if (state === "connected") process.stderr.write(`tenterhook: ${name} is connected to the daemon\n`);
}

/** A hook that is there for a while: `await using hook = await client.temporaryHook(…)`. */
export interface TemporaryHook extends AsyncDisposable {
  readonly id: string;
}

/**
 * Registers hooks with Tenterhook and answers for them, for as long as it is not closed.
 *
 * The connection is made when it is first needed, and again whenever it breaks; hooks come back by themselves. An open
 * stream of events keeps the process alive: `close()`, or `await using client = new TenterhookClient()`.
 */
export class TenterhookClient implements AsyncDisposable {
  readonly #link: Link;
  readonly #patience: number;
  readonly #observer = new Observer();
  #observing: string | undefined;

  constructor(options: ClientOptions = {}) {
    this.#patience = options.readyTimeout ?? 10_000;
    this.#link = new Link({
      endpoint: options,
      identity: { id: randomBytes(16).toString("hex"), name: options.name ?? "typescript-sdk" },
      onError: options.onError ?? ((error) => process.emitWarning(error)),
      onStateChange: options.onStateChange ?? ((state) => sayConnected(state, options.name)),
    });
  }

  /** How the connection stands. */
  get state(): ClientState {
    return this.#link.state;
  }

  /**
   * Registers a hook and returns its id at once. It is in force once `ready()` resolves; if the daemon refuses it,
   * `ready()` says so.
   */
  registerHook<E extends HookEventType>(event: E, hook: HookHandler<E> | HookRegistration<E>): string {
    const registration = typeof hook === "function" ? { handler: hook } : hook;
    const id = registration.id ?? `ts-${randomBytes(9).toString("base64url")}`;
    this.#link.registry.add(id, event, registration);
    this.#link.connect();
    return id;
  }

  /** Takes back a hook. Resolves once the daemon has let go of it; to false if there was none. */
  unregisterHook(id: string): Promise<boolean> {
    const left = this.#link.registry.remove(id);
    this.#link.sync();
    return this.#link.failures.watch(left);
  }

  /** The hooks of this client, as they stand. */
  listHooks(): RegisteredHook[] {
    return this.#link.registry.list().filter((hook) => hook.id !== this.#observing);
  }

  /** All hooks that are in force in the daemon, whoever they belong to, in the order they run in. */
  async listAllHooks(): Promise<ListedHook[]> {
    const channel = this.#link.channel();
    const { hooks } = await channel.call(channel.hooks, channel.hooks.listHooks, { all: true });
    return hooks.map(listed);
  }

  /** Registers a hook that is taken back at the end of the block: `await using`. Resolves once it is in force. */
  async temporaryHook<E extends HookEventType>(
    event: E,
    hook: HookHandler<E> | HookRegistration<E>,
  ): Promise<TemporaryHook> {
    const id = this.registerHook(event, hook);
    const takeBack = async () => {
      await this.unregisterHook(id);
    };
    try {
      await this.ready();
    } catch (error) {
      // Nobody gets hold of it, so nobody would take it back.
      void takeBack();
      throw error;
    }
    return { id, [Symbol.asyncDispose]: takeBack };
  }

  /**
   * Resolves once the daemon has everything that was asked of it so far. Rejects with what it refused, or when it
   * cannot be reached in time; the client goes on trying.
   */
  async ready(): Promise<void> {
    await this.#link.settled(this.#patience);
  }

  /** Sets how much is recorded about hooks. To record less, a person has to prove themselves. Resolves to what it was. */
  setHookAuditLevel(level: AuditLevel, proof?: AuditProof): Promise<AuditLevel> {
    return this.#link.failures.watch(setAuditLevel(this.#link.channel(), level, proof));
  }

  /** Fires an event of your own agent. It passes hooks and rules, is recorded, and its outcome comes back. */
  async fire(event: FiredEvent, options: FireOptions = {}): Promise<FireResult> {
    return fire(this.#link.channel(), event, options);
  }

  /** Fires an event of a harness in its own words; the reply is in its own words too. */
  async fireNative(event: NativeEvent, options: FireOptions = {}): Promise<NativeResult> {
    return fireNative(this.#link.channel(), event, options);
  }

  /** What happens from now on, whichever agent it is. */
  watch(options: WatchOptions = {}): AsyncGenerator<News, void, undefined> {
    return watch(this.#link.channel(), options);
  }

  /** Calls back whenever an agent has written or edited a file. Returns how to end that. */
  onFileChanged(listener: (event: FileChanged) => void): () => void {
    return this.#observe(this.#observer.files, listener);
  }

  /** Calls back with an agent's whole list of what is to do, whenever it changes. Returns how to end that. */
  onTodoUpdate(listener: (event: TodoUpdate) => void): () => void {
    return this.#observe(this.#observer.todos, listener);
  }

  /** Begins a session of the daemon's own agent and resolves to its id. Only this client can give it work. */
  async createSession(options: SessionOptions = {}): Promise<string> {
    return createSession(this.#link.channel(), options);
  }

  /** Ends a session, and what is under way in it. */
  async endSession(sessionId: string, reason = ""): Promise<void> {
    return endSession(this.#link.channel(), sessionId, reason);
  }

  /** One turn of a session, to the agent's last word. Rejects if a hook, a rule or a person ends it before. */
  async generate(sessionId: string, prompt: string, options: WorkOptions = {}): Promise<Generation> {
    return generate(this.#link.channel(), sessionId, prompt, options);
  }

  /** The same, step by step, drafts of the model included. Whoever stops reading cancels the turn. */
  generateStream(
    sessionId: string,
    prompt: string,
    options: WorkOptions = {},
  ): AsyncGenerator<GenerateStep, void, undefined> {
    return turn(this.#link.channel(), sessionId, prompt, true, options);
  }

  /**
   * Runs a tool in a session, past the same hooks and rules as when a model asks for it. A tool that failed resolves;
   * one that nobody let run rejects: `blocked`. Inside a handler, that hook is not asked about it.
   */
  async executeTool(sessionId: string, tool: string, args: ToolArgs, options: WorkOptions = {}): Promise<ToolResult> {
    return executeTool(this.#link.channel(), sessionId, tool, args, options);
  }

  /** Takes back all hooks and ends the connection. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #observe<T>(listeners: Set<T>, listener: T): () => void {
    listeners.add(listener);
    this.#observing ??= this.registerHook("PostToolUse", {
      handler: (event) => this.#observer.see(event),
      config: { async: true },
    });
    return () => {
      listeners.delete(listener);
      if (!this.#observer.isIdle || this.#observing === undefined) return;
      void this.unregisterHook(this.#observing);
      this.#observing = undefined;
    };
  }
}
