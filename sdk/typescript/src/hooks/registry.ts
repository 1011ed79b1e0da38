// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { Channel } from "../connection/channel.js";
import { asTenterhookError, TenterhookError } from "../errors.js";
import type { HookEventType } from "../events/index.js";
import { FailBehavior, type RegisterHookRequest } from "../generated/tenterhook/v1/hooks.js";
import type { HookConfig, HookHandler, HookMatcher, HookRegistration, RegisteredHook } from "./types.js";

/** Time limit for registering a hook. */
const REGISTER_TIMEOUT_MS = 10_000;

interface Hook extends RegisteredHook {
  /** Whether a registration was sent to the daemon. */
  sent?: boolean;
  error?: TenterhookError;
  handler: HookHandler<never>;
}

/** A promise that is settled from outside. */
interface Deferred {
  done: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The hooks of this client, and whether the daemon has them. Changes are recorded immediately; while there is a
 * connection, they are sent to the daemon one hook at a time, in order.
 */
export class Registry {
  readonly #hooks = new Map<string, Hook>();
  readonly #leaving = new Map<string, Deferred>();
  #isSyncing = false;
  #synced: Promise<void> = Promise.resolve();

  constructor(readonly refused: (error: TenterhookError) => void) {}

  /** Returns the handler of a hook. */
  handler(id: string): HookHandler<never> | undefined {
    return this.#hooks.get(id)?.handler;
  }

  /** Adds a hook. */
  add<E extends HookEventType>(id: string, event: E, registration: HookRegistration<E>): void {
    const { matcher = {}, config = {}, handler } = registration;
    if (this.#hooks.has(id))
      throw new TenterhookError("already-exists", `hook \`${id}\` exists already in this client`);
    this.#hooks.set(id, { id, event, matcher, config, handler: handler as HookHandler<never>, state: "pending" });
  }

  /** Removes a hook. Resolves once the daemon has removed it. Resolves to false if there was no such hook. */
  async remove(id: string): Promise<boolean> {
    const hook = this.#hooks.get(id);
    if (!hook) return false;
    this.#hooks.delete(id);
    if (hook.sent && hook.state !== "refused") {
      const waiting = makeDeferred();
      this.#leaving.set(id, waiting);
      await waiting.done;
    }
    return true;
  }

  /** Resolves once the daemon has processed all removals, or the connection has ended for good. */
  async allRemoved(): Promise<void> {
    await Promise.allSettled([...this.#leaving.values()].map((waiting) => waiting.done));
  }

  list(): RegisteredHook[] {
    return [...this.#hooks.values()].map(({ handler: _, sent: __, ...hook }) => hook);
  }

  /** Whether the daemon has processed all additions and removals. */
  get isSettled(): boolean {
    return this.#leaving.size === 0 && ![...this.#hooks.values()].some((hook) => hook.state === "pending");
  }

  /** Handles a new connection. `ids` are the hooks that are still registered at the daemon. */
  reconnected(ids: readonly string[]): void {
    const has = new Set(ids);
    for (const hook of this.#hooks.values()) {
      if (hook.state === "active" && !has.has(hook.id)) hook.state = "pending";
    }
  }

  /** Sends all changes to the daemon. Throws if the connection breaks. */
  sync(channel: Channel): Promise<void> {
    if (!this.#isSyncing) {
      this.#isSyncing = true;
      this.#synced = this.#sync(channel);
    }
    return this.#synced;
  }

  async #sync(channel: Channel): Promise<void> {
    try {
      // Hooks may be added or removed during a call.
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
      await channel.call(channel.hooks, channel.hooks.registerHook, toRequest(hook), { timeout: REGISTER_TIMEOUT_MS });
      hook.state = "active";
    } catch (thrown) {
      const error = asTenterhookError(thrown);
      if (isConnectionError(error)) throw error;
      hook.state = "refused";
      hook.error = error.about(`hook \`${hook.id}\` (${hook.event})`);
      this.refused(hook.error);
    }
  }

  async #unregister(channel: Channel, hookId: string): Promise<void> {
    const waiting = this.#leaving.get(hookId);
    try {
      await channel.call(channel.hooks, channel.hooks.unregisterHook, { hookId }, { timeout: REGISTER_TIMEOUT_MS });
      waiting?.resolve();
    } catch (thrown) {
      const error = asTenterhookError(thrown);
      if (isConnectionError(error)) throw error;
      // The daemon has already removed the hook.
      if (error.code === "not-found") waiting?.resolve();
      else waiting?.reject(error);
    }
    this.#leaving.delete(hookId);
  }

  /** Gives up all pending changes, because the connection has ended for good. */
  abandon(error: Error): void {
    for (const waiting of this.#leaving.values()) waiting.reject(error);
    this.#leaving.clear();
  }
}

function makeDeferred(): Deferred {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => {}, () => {}];
  const done = new Promise<void>((resolved, rejected) => {
    [resolve, reject] = [resolved, rejected];
  });
  return { done, resolve, reject };
}

function isConnectionError(error: TenterhookError): boolean {
  return ["unavailable", "timed-out", "cancelled", "closed"].includes(error.code);
}

function toRequest({ id, event, matcher, config }: Hook): RegisterHookRequest {
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
