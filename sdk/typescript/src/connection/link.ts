// SPDX-License-Identifier: Apache-2.0 OR MIT

import { closed, TenterhookError } from "../errors.js";
import { Calls } from "../hooks/calls.js";
import { Failures } from "../hooks/failures.js";
import { Registry } from "../hooks/registry.js";
import { Channel, type Identity } from "./channel.js";
import { type EndpointOptions, findEndpoint } from "./endpoint.js";
import { HookStream, type StreamListener } from "./stream.js";

/** How the connection stands: not needed yet, being made, there, or gone for good. */
export type ClientState = "idle" | "connecting" | "connected" | "failed" | "closed";

/** What a link is made of. */
export interface LinkOptions {
  endpoint: EndpointOptions;
  identity: Identity;
  onError(error: Error): void;
  onStateChange(state: ClientState): void;
}

/** How long `close` waits until the daemon has let go of the hooks, in milliseconds. */
const FAREWELL = 2000;

/** How long until a daemon that did not answer is asked again, in milliseconds. */
const BUSY = 1000;

/** The connection to a daemon and the hooks behind it: made when it is first needed, and again whenever it breaks. */
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
  /** Why the connection is not there. */
  #trouble: TenterhookError | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(readonly options: LinkOptions) {
    this.failures = new Failures(options.onError, () => this.#wake());
  }

  get state(): ClientState {
    return this.#state;
  }

  /** For single calls; whether anybody is at the other end is seen when it is used. */
  channel(): Channel {
    if (this.#state === "closed") throw closed();
    this.#channel ??= new Channel(findEndpoint(this.options.endpoint), this.options.identity);
    return this.#channel;
  }

  /** Makes the stream, once, and brings the daemon into step with what is wanted. */
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

  /** Waits until the daemon has everything that is wanted, or throws why not. */
  async settled(patience: number): Promise<void> {
    const until = Date.now() + patience;
    const release = this.failures.hold();
    try {
      this.connect();
      for (;;) {
        this.failures.throw();
        if (this.#state === "failed" || this.#state === "closed") throw this.#trouble ?? closed();
        if (this.#state === "connected" && this.registry.isSettled && this.failures.isQuiet) return;
        if (Date.now() >= until) throw this.#late(patience);
        await this.#change(until);
      }
    } finally {
      release();
    }
  }

  /** Brings the daemon into step, if there is a connection; the next one does it otherwise. */
  sync(): void {
    if (this.#state !== "connected" || !this.#channel) return;
    const again = () => setTimeout(() => this.sync(), BUSY).unref();
    this.registry.sync(this.#channel).then(() => this.#wake(), again);
  }

  /** Takes back all hooks and ends the connection. */
  async close(): Promise<void> {
    if (this.#state === "closed") return;
    const leaving = this.registry.list().map((hook) => this.registry.remove(hook.id));
    // Hooks that were taken back a moment ago are on their way out too, whether or not that was awaited.
    const left = Promise.allSettled([...leaving, this.registry.left()]);
    if (this.#state === "connected") {
      this.sync();
      await soon(left, FAREWELL);
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
        this.#trouble = undefined;
        this.registry.reconnected(hookIds);
        this.#calls.reconnected(hookIds);
        this.#setState("connected");
        this.sync();
      },
      event: (event) => this.#calls.receive(event),
      lost: (error) => {
        this.#trouble = error;
        this.#setState("connecting");
      },
      failed: (error) => this.#fail(error),
      refused: (error) => this.failures.tell(error),
    };
  }

  #fail(error: TenterhookError): void {
    this.#trouble = error;
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

  #late(patience: number): TenterhookError {
    const why = `the daemon did not answer within ${patience} ms`;
    return this.#trouble ?? new TenterhookError("timed-out", why, "`tenterhook status` says how it is");
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when something has changed, or at the end of the time. */
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

/** Waits for something, but not for long. */
function soon(awaited: Promise<unknown>, patience: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience);
    void awaited.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
