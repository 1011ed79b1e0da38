// SPDX-License-Identifier: Apache-2.0 OR MIT

import { closed, TenterhookError } from "../errors.js";
import { Calls } from "../hooks/calls.js";
import { Failures } from "../hooks/failures.js";
import { Registry } from "../hooks/registry.js";
import { Channel, type Identity } from "./channel.js";
import { type EndpointOptions, findEndpoint } from "./endpoint.js";
import { HookStream, type StreamListener } from "./stream.js";

/** State of the connection: not used yet, being opened, open, failed for good, or closed by the client. */
export type ClientState = "idle" | "connecting" | "connected" | "failed" | "closed";

/** Options of a link. */
export interface LinkOptions {
  endpoint: EndpointOptions;
  identity: Identity;
  onError(error: Error): void;
  onStateChange(state: ClientState): void;
}

/** How long `close` waits until the daemon has removed the hooks. */
const CLOSE_TIMEOUT_MS = 2000;

/** Delay before a failed synchronization is repeated. */
const SYNC_RETRY_MS = 1000;

/** The connection to a daemon and its hooks. It is opened on first use and again after it breaks. */
export class Link {
  readonly failures: Failures;
  readonly registry = new Registry((error) => this.failures.add(error));
  readonly #calls = new Calls(
    (id) => this.registry.handler(id),
    (response) => this.#stream?.send(response),
  );
  #channel: Channel | undefined;
  #stream: HookStream | undefined;
  #state: ClientState = "idle";
  /** Error of the last connection. */
  #lastError: TenterhookError | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(readonly options: LinkOptions) {
    this.failures = new Failures(options.onError, () => this.#wake());
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Returns the channel for single calls. It connects on first use. */
  channel(): Channel {
    if (this.#state === "closed") throw closed();
    this.#channel ??= new Channel(findEndpoint(this.options.endpoint), this.options.identity);
    return this.#channel;
  }

  /** Opens the stream if necessary, and sends all changes of hooks to the daemon. */
  connect(): void {
    if (this.#state === "closed") throw closed();
    if (this.#stream) {
      this.sync();
      return;
    }
    this.#setState("connecting");
    this.#stream = new HookStream(() => this.channel(), this.#listener());
    this.#stream.open();
  }

  /** Waits until the daemon has all hooks, or throws the error. */
  async settled(timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    const release = this.failures.hold();
    try {
      this.connect();
      for (;;) {
        this.failures.throw();
        if (this.#state === "failed" || this.#state === "closed") throw this.#lastError ?? closed();
        if (this.#state === "connected" && this.registry.isSettled && this.failures.isQuiet) return;
        if (Date.now() >= until) throw this.#timeoutError(timeoutMs);
        await this.#change(until);
      }
    } finally {
      release();
    }
  }

  /**
   * Sends all changes of hooks to the daemon. Without a connection it does nothing: the changes are sent once
   * connected.
   */
  sync(): void {
    if (this.#state !== "connected" || !this.#channel) return;
    const again = () => setTimeout(() => this.sync(), SYNC_RETRY_MS).unref();
    this.registry.sync(this.#channel).then(() => this.#wake(), again);
  }

  /** Unregisters all hooks and closes the connection. */
  async close(): Promise<void> {
    if (this.#state === "closed") return;
    const leaving = this.registry.list().map((hook) => this.registry.remove(hook.id));
    // Also waits until the daemon has removed the hooks that this client unregistered earlier.
    const left = Promise.allSettled([...leaving, this.registry.allRemoved()]);
    if (this.#state === "connected") {
      this.sync();
      await waitAtMost(left, CLOSE_TIMEOUT_MS);
    }
    this.#setState("closed");
    this.registry.abandon(closed());
    this.#calls.cancelAll(closed());
    this.#stream?.close();
    this.#channel?.close();
  }

  #listener(): StreamListener {
    return {
      hello: ({ hookIds }) => {
        this.#lastError = undefined;
        this.registry.reconnected(hookIds);
        this.#calls.reconnected(hookIds);
        this.#setState("connected");
        this.sync();
      },
      event: (event) => this.#calls.receive(event),
      lost: (error) => {
        this.#lastError = error;
        this.#setState("connecting");
      },
      failed: (error) => this.#fail(error),
      refused: (error) => this.failures.tell(error),
    };
  }

  #fail(error: TenterhookError): void {
    this.#lastError = error;
    this.#setState("failed");
    this.registry.abandon(error);
    this.failures.add(error);
  }

  #setState(state: ClientState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.options.onStateChange(state);
    this.#wake();
  }

  #timeoutError(timeoutMs: number): TenterhookError {
    const why = `the daemon did not answer within ${timeoutMs} ms`;
    return this.#lastError ?? new TenterhookError("timed-out", why, "`tenterhook status` shows its state");
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the state has changed, or at the deadline. */
  #change(until: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(until - Date.now(), 0));
      this.#waiting.add(wake);
    });
  }
}

/** Waits for a promise, but at most `timeoutMs`. */
function waitAtMost(awaited: Promise<unknown>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    void awaited.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
