// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
import { asTenterhookError, fromData, fromStatus, type TenterhookError, type TenterhookErrorCode } from "../errors.js";
import {
  type HookEvent,
  HookEventKind,
  type HookResponse,
  type StreamHello,
} from "../generated/tenterhook/v1/hooks.js";
import { Backoff } from "./backoff.js";
import type { Channel } from "./channel.js";

/** Who listens to the stream. */
export interface StreamListener {
  /** It is open: these hooks the daemon still has. */
  hello(hello: StreamHello): void;
  /** A hook is asked, or nobody waits for it any more. */
  event(event: HookEvent): void;
  /** It broke and will be opened again. */
  lost(error: TenterhookError | undefined): void;
  /** It will not be opened again. */
  failed(error: TenterhookError): void;
  /** An answer of ours could not be used. */
  refused(error: TenterhookError): void;
}

/** To try these again would end the same way. */
const FINAL: ReadonlySet<TenterhookErrorCode> = new Set([
  "replaced",
  "refused",
  "unauthenticated",
  "invalid",
  "unimplemented",
  "closed",
]);

/** The stream of events and answers, opened again whenever it breaks. */
export class HookStream {
  readonly #backoff = new Backoff();
  #call: ClientDuplexStream<HookResponse, HookEvent> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the daemon at the other end has said HELLO: until then it may be another one than the one that asked. */
  #greeted = false;
  #closed = false;

  constructor(
    readonly channel: () => Channel,
    readonly listener: StreamListener,
  ) {}

  /** Opens it, and keeps it open. */
  open(): void {
    if (this.#closed) return;
    let channel: Channel;
    try {
      channel = this.channel();
    } catch (error) {
      this.#give(asTenterhookError(error));
      return;
    }
    const call = channel.hooks.hookStream(channel.metadata);
    this.#call = call;
    call.on("data", (event: HookEvent) => {
      if (this.#call === call) this.#receive(event);
    });
    call.on("error", (error: ServiceError) => this.#broke(call, error));
    call.on("end", () => this.#broke(call));
  }

  /**
   * Sends an answer. On a stream that is broken, or whose daemon has not said yet who it is, it is lost: whoever still
   * wants it asks again.
   */
  send(response: HookResponse): void {
    if (this.#greeted) this.#call?.write(response);
  }

  /** Ends it for good. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#call?.end();
    this.#call = undefined;
  }

  #receive(event: HookEvent): void {
    switch (event.kind) {
      case HookEventKind.HOOK_EVENT:
      case HookEventKind.HOOK_CANCEL:
        this.listener.event(event);
        break;
      case HookEventKind.HOOK_HELLO:
        this.#backoff.reset();
        this.#greeted = true;
        this.listener.hello(event.hello ?? { version: "", hookIds: [], missed: 0 });
        break;
      case HookEventKind.HOOK_REFUSED:
        if (event.error) this.listener.refused(fromData(event.error));
        break;
      case HookEventKind.HOOK_GOODBYE:
        // The stream ends by itself.
        break;
    }
  }

  #broke(call: ClientDuplexStream<HookResponse, HookEvent>, error?: ServiceError): void {
    if (this.#closed || this.#call !== call) return;
    this.#call = undefined;
    this.#greeted = false;
    call.cancel();
    this.#give(error && fromStatus(error));
  }

  /** Gives up, for now or for good. */
  #give(error: TenterhookError | undefined): void {
    if (error && FINAL.has(error.code)) {
      this.#closed = true;
      this.listener.failed(error);
      return;
    }
    this.listener.lost(error);
    this.#timer = setTimeout(() => this.open(), this.#backoff.pause());
  }
}
