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
import { type ListedHook, toListedHook } from "./hooks/list.js";
import type { HookHandler, HookRegistration, RegisteredHook } from "./hooks/types.js";
import { type FileChanged, Observer, type TodoUpdate } from "./observe.js";
import { type News, type WatchOptions, watch } from "./watch.js";

/** Options of a client. */
export interface ClientOptions extends EndpointOptions {
  /** Name shown to users as the owner of this client's hooks, such as `my-agent/1.2`. */
  name?: string;
  /** How long `ready()` waits, in milliseconds; defaults to 10000. */
  readyTimeout?: number;
  /**
   * Called with errors that occur while no `ready()` is pending; a pending `ready()` rejects with them instead. By
   * default Node prints a warning.
   */
  onError?: (error: Error) => void;
  /**
   * Called when the state of the connection changes. By default the client prints a line on standard error when it is
   * connected.
   */
  onStateChange?: (state: ClientState) => void;
}

/** Prints one line on standard error, so that a program that only registers hooks does not look stuck. */
function reportConnected(state: ClientState, name = "typescript-sdk"): void {
  if (state === "connected") process.stderr.write(`tenterhook: ${name} is connected to the daemon\n`);
}

/** A hook that is unregistered at the end of a block: `await using hook = await client.temporaryHook(…)`. */
export interface TemporaryHook extends AsyncDisposable {
  readonly id: string;
}

/**
 * A client of the Tenterhook daemon: registers hooks and runs their handlers until it is closed.
 *
 * The client connects on first use. When the connection breaks, it reconnects and registers its hooks again. An open
 * connection keeps the process alive: call `close()`, or use `await using client = new TenterhookClient()`.
 */
export class TenterhookClient implements AsyncDisposable {
  readonly #link: Link;
  readonly #readyTimeout: number;
  readonly #observer = new Observer();
  #observing: string | undefined;

  constructor(options: ClientOptions = {}) {
    this.#readyTimeout = options.readyTimeout ?? 10_000;
    this.#link = new Link({
      endpoint: options,
      identity: { id: randomBytes(16).toString("hex"), name: options.name ?? "typescript-sdk" },
      onError: options.onError ?? ((error) => process.emitWarning(error)),
      onStateChange: options.onStateChange ?? ((state) => reportConnected(state, options.name)),
    });
  }

  /** State of the connection. */
  get state(): ClientState {
    return this.#link.state;
  }

  /**
   * Registers a hook and returns its id immediately. The hook is active once `ready()` resolves; `ready()` rejects if the
   * daemon refuses the hook.
   */
  registerHook<E extends HookEventType>(event: E, hook: HookHandler<E> | HookRegistration<E>): string {
    const registration = typeof hook === "function" ? { handler: hook } : hook;
    const id = registration.id ?? `ts-${randomBytes(9).toString("base64url")}`;
    this.#link.registry.add(id, event, registration);
    this.#link.connect();
    return id;
  }

  /** Unregisters a hook. Resolves once the daemon has removed it. Resolves to false if this client had no such hook. */
  unregisterHook(id: string): Promise<boolean> {
    const left = this.#link.registry.remove(id);
    this.#link.sync();
    return this.#link.failures.watch(left);
  }

  /** Lists the hooks of this client. */
  listHooks(): RegisteredHook[] {
    return this.#link.registry.list().filter((hook) => hook.id !== this.#observing);
  }

  /** Lists the daemon's active hooks of all owners, in the order in which they run. */
  async listAllHooks(): Promise<ListedHook[]> {
    const channel = this.#link.channel();
    const { hooks } = await channel.call(channel.hooks, channel.hooks.listHooks, { all: true });
    return hooks.map(toListedHook);
  }

  /** Registers a hook that is unregistered at the end of the block: `await using`. Resolves once it is active. */
  async temporaryHook<E extends HookEventType>(
    event: E,
    hook: HookHandler<E> | HookRegistration<E>,
  ): Promise<TemporaryHook> {
    const id = this.registerHook(event, hook);
    const unregister = async () => {
      await this.unregisterHook(id);
    };
    try {
      await this.ready();
    } catch (error) {
      // The caller never receives the hook, so it cannot unregister the hook itself.
      void unregister();
      throw error;
    }
    return { id, [Symbol.asyncDispose]: unregister };
  }

  /**
   * Resolves once the daemon has processed all registrations so far. Rejects if the daemon refused a hook or cannot
   * be reached in time. After a rejection the client keeps trying to connect.
   */
  async ready(): Promise<void> {
    await this.#link.settled(this.#readyTimeout);
  }

  /**
   * Sets how much is recorded about hooks and resolves to the previous level. A level that records less needs
   * `proof`.
   */
  setHookAuditLevel(level: AuditLevel, proof?: AuditProof): Promise<AuditLevel> {
    return this.#link.failures.watch(setAuditLevel(this.#link.channel(), level, proof));
  }

  /** Fires an event of your own agent: runs hooks and rules, records the outcome and resolves to it. */
  async fire(event: FiredEvent, options: FireOptions = {}): Promise<FireResult> {
    return fire(this.#link.channel(), event, options);
  }

  /** Fires an event in a harness's own format; the reply is in the harness's format too. */
  async fireNative(event: NativeEvent, options: FireOptions = {}): Promise<NativeResult> {
    return fireNative(this.#link.channel(), event, options);
  }

  /** Streams the events of the daemon from now on, for all agents. */
  watch(options: WatchOptions = {}): AsyncGenerator<News, void, undefined> {
    return watch(this.#link.channel(), options);
  }

  /** Calls the listener whenever an agent has written or edited a file. Returns a function that removes the listener. */
  onFileChanged(listener: (event: FileChanged) => void): () => void {
    return this.#observe(this.#observer.files, listener);
  }

  /** Calls the listener with an agent's complete to-do list whenever it changes. Returns a function that removes the listener. */
  onTodoUpdate(listener: (event: TodoUpdate) => void): () => void {
    return this.#observe(this.#observer.todos, listener);
  }

  /** Starts a session of the daemon's agent and resolves to its id. Only this client can use the session. */
  async createSession(options: SessionOptions = {}): Promise<string> {
    return createSession(this.#link.channel(), options);
  }

  /** Ends a session and cancels its current turn. */
  async endSession(sessionId: string, reason = ""): Promise<void> {
    return endSession(this.#link.channel(), sessionId, reason);
  }

  /** Runs one turn of a session and resolves to the final response. Rejects if a hook, a rule or the user ends the turn. */
  async generate(sessionId: string, prompt: string, options: WorkOptions = {}): Promise<Generation> {
    return generate(this.#link.channel(), sessionId, prompt, options);
  }

  /** Runs one turn and yields its steps, including drafts of the model. Ending the iteration cancels the turn. */
  generateStream(
    sessionId: string,
    prompt: string,
    options: WorkOptions = {},
  ): AsyncGenerator<GenerateStep, void, undefined> {
    return turn(this.#link.channel(), sessionId, prompt, true, options);
  }

  /**
   * Runs a tool in a session. The same hooks and rules apply as to a call by the model, with one exception: a hook
   * whose handler calls this method is not called for this tool. Resolves if the tool ran, even if it failed. Rejects
   * with `blocked` if the call was denied.
   */
  async executeTool(sessionId: string, tool: string, args: ToolArgs, options: WorkOptions = {}): Promise<ToolResult> {
    return executeTool(this.#link.channel(), sessionId, tool, args, options);
  }

  /** Unregisters all hooks and closes the connection. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #observe<T>(listeners: Set<T>, listener: T): () => void {
    listeners.add(listener);
    this.#observing ??= this.registerHook("PostToolUse", {
      handler: (event) => this.#observer.receive(event),
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
