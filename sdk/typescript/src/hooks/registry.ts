// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "../connection/channel.js";
import { asTenterhookError, TenterhookError } from "../errors.js";
import type { HookEventType } from "../events/index.js";
import { FailBehavior, type RegisterHookRequest } from "../generated/tenterhook/v1/hooks.js";
import type { HookConfig, HookHandler, HookMatcher, HookRegistration, RegisteredHook } from "./types.js";

/** How long the daemon may take to register a hook, in milliseconds. */
const PATIENCE = 10_000;

interface Hook extends RegisteredHook {
  /** Whether the daemon may have it. */
  sent?: boolean;
  error?: TenterhookError;
  handler: HookHandler<never>;
}

/** Waits for something that happens elsewhere. */
interface Waiting {
  done: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The hooks this client wants, and whether the daemon has them. What is wanted is said at once; the daemon is brought
 * into step one hook after the other, in the order they were wanted, whenever there is a connection.
 */
export class Registry {
  readonly #hooks = new Map<string, Hook>();
  readonly #leaving = new Map<string, Waiting>();
  #isSyncing = false;
  #synced: Promise<void> = Promise.resolve();

  constructor(readonly refused: (error: TenterhookError) => void) {}

  /** The handler of a hook. */
  handler(id: string): HookHandler<never> | undefined {
    return this.#hooks.get(id)?.handler;
  }

  /** Wants a hook. */
  add<E extends HookEventType>(id: string, event: E, registration: HookRegistration<E>): void {
    const { matcher = {}, config = {}, handler } = registration;
    if (this.#hooks.has(id)) throw new TenterhookError("already-exists", `this client has a hook \`${id}\` already`);
    this.#hooks.set(id, { id, event, matcher, config, handler: handler as HookHandler<never>, state: "pending" });
  }

  /** Does not want it any more. Resolves once the daemon does not have it either; false: there was none. */
  async remove(id: string): Promise<boolean> {
    const hook = this.#hooks.get(id);
    if (!hook) return false;
    this.#hooks.delete(id);
    if (hook.sent && hook.state !== "refused") {
      const waiting = makeWaiting();
      this.#leaving.set(id, waiting);
      await waiting.done;
    }
    return true;
  }

  /** Resolves once the daemon has none of the hooks that were taken back, or will not be asked any more. */
  async left(): Promise<void> {
    await Promise.allSettled([...this.#leaving.values()].map((waiting) => waiting.done));
  }

  list(): RegisteredHook[] {
    return [...this.#hooks.values()].map(({ handler: _, sent: __, ...hook }) => hook);
  }

  /** Whether the daemon has everything that is wanted. */
  get isSettled(): boolean {
    return this.#leaving.size === 0 && ![...this.#hooks.values()].some((hook) => hook.state === "pending");
  }

  /** A new connection: these the daemon still has. */
  reconnected(ids: readonly string[]): void {
    const has = new Set(ids);
    for (const hook of this.#hooks.values()) {
      if (hook.state === "active" && !has.has(hook.id)) hook.state = "pending";
    }
  }

  /** Brings the daemon into step. Throws when the connection is not good enough for that. */
  sync(channel: Channel): Promise<void> {
    if (!this.#isSyncing) {
      this.#isSyncing = true;
      this.#synced = this.#sync(channel);
    }
    return this.#synced;
  }

  async #sync(channel: Channel): Promise<void> {
    try {
      // What is wanted may change while the daemon is asked.
      for (;;) {
        const [leaving] = this.#leaving.keys();
        const pending = [...this.#hooks.values()].find((hook) => hook.state === "pending");
        if (leaving !== undefined) await this.#unregister(channel, leaving);
        else if (pending) await this.#register(channel, pending);
        else return;
      }
    } finally {
      this.#isSyncing = false;
    }
  }

  async #register(channel: Channel, hook: Hook): Promise<void> {
    hook.sent = true;
    try {
      await channel.call(channel.hooks, channel.hooks.registerHook, request(hook), { timeout: PATIENCE });
      hook.state = "active";
    } catch (thrown) {
      const error = asTenterhookError(thrown);
      if (isAboutConnection(error)) throw error;
      hook.state = "refused";
      hook.error = error.about(`hook \`${hook.id}\` (${hook.event})`);
      this.refused(hook.error);
    }
  }

  async #unregister(channel: Channel, hookId: string): Promise<void> {
    const waiting = this.#leaving.get(hookId);
    try {
      await channel.call(channel.hooks, channel.hooks.unregisterHook, { hookId }, { timeout: PATIENCE });
      waiting?.resolve();
    } catch (thrown) {
      const error = asTenterhookError(thrown);
      if (isAboutConnection(error)) throw error;
      // What is not there need not be taken back.
      if (error.code === "not-found") waiting?.resolve();
      else waiting?.reject(error);
    }
    this.#leaving.delete(hookId);
  }

  /** There will be no connection any more. */
  abandon(error: Error): void {
    for (const waiting of this.#leaving.values()) waiting.reject(error);
    this.#leaving.clear();
  }
}

function makeWaiting(): Waiting {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => {}, () => {}];
  const done = new Promise<void>((resolved, rejected) => {
    [resolve, reject] = [resolved, rejected];
  });
  return { done, resolve, reject };
}

function isAboutConnection(error: TenterhookError): boolean {
  return ["unavailable", "timed-out", "cancelled", "closed"].includes(error.code);
}

function request({ id, event, matcher, config }: Hook): RegisterHookRequest {
  return { eventType: event, hookId: id, matcher: wireMatcher(matcher), config: wireConfig(config) };
}

function wireMatcher({ tool, pathPattern, commandPattern }: HookMatcher) {
  return { tool, pathPattern, commandPattern };
}

const FAIL_BEHAVIORS = {
  continue: FailBehavior.FAIL_CONTINUE,
  block: FailBehavior.FAIL_BLOCK,
} as const;

function wireConfig({ priority = 0, timeout = 0, async = false, failBehavior, linger = 0 }: HookConfig) {
  const behavior = failBehavior === undefined ? FailBehavior.FAIL_DEFAULT : FAIL_BEHAVIORS[failBehavior];
  return { priority, timeoutMs: timeout, async, failBehavior: behavior, lingerMs: linger };
}
