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

/** Receives the messages of the stream. */
export interface StreamListener {
  /** The stream is open; the message names the hooks that the daemon still has. */
  hello(hello: StreamHello): void;
  /** A hook is called, or a call is cancelled. */
  event(event: HookEvent): void;
  /** The stream broke and will be opened again. */
  lost(error: TenterhookError | undefined): void;
  /** The stream will not be opened again. */
  failed(error: TenterhookError): void;
  /** The daemon refused a response. */
  refused(error: TenterhookError): void;
}

/** Errors that a retry cannot fix. */
const FINAL_ERRORS: ReadonlySet<TenterhookErrorCode> = new Set([
  "replaced",
  "refused",
  "unauthenticated",
  "invalid",
  "unimplemented",
  "closed",
]);

/** The stream of events and responses, opened again after it breaks. */
export class HookStream {
  readonly #backoff = new Backoff();
  #call: ClientDuplexStream<HookResponse, HookEvent> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the daemon has sent HELLO. Until then, it may be a new daemon that does not know the pending calls. */
  #greeted = false;
  #closed = false;

  constructor(
    readonly channel: () => Channel,
    readonly listener: StreamListener,
  ) {}

  /** Opens the stream and keeps it open. */
  open(): void {
    if (this.#closed) return;
    let channel: Channel;
    try {
      channel = this.channel();
    } catch (error) {
      this.#retryOrFail(asTenterhookError(error));
      return;
    }
    const call = channel.hooks.hookStream(channel.metadata);
    this.#call = call;
    call.on("data", (event: HookEvent) => {
      if (this.#call === call) this.#receive(event);
    });
    call.on("error", (error: ServiceError) => this.#handleBreak(call, error));
    call.on("end", () => this.#handleBreak(call));
  }

  /**
   * Sends a response. On a broken stream or before HELLO, the response is dropped: the daemon sends the call again if it
   * still waits for a response.
   */
  send(response: HookResponse): void {
    if (this.#greeted) this.#call?.write(response);
  }

  /** Closes the stream for good. */
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
        // The daemon closes the stream.
        break;
    }
  }

  #handleBreak(call: ClientDuplexStream<HookResponse, HookEvent>, error?: ServiceError): void {
    if (this.#closed || this.#call !== call) return;
    this.#call = undefined;
    this.#greeted = false;
    call.cancel();
    this.#retryOrFail(error && fromStatus(error));
  }

  /** Schedules the next attempt, or gives up after a final error. */
  #retryOrFail(error: TenterhookError | undefined): void {
    if (error && FINAL_ERRORS.has(error.code)) {
      this.#closed = true;
      this.listener.failed(error);
      return;
    }
    this.listener.lost(error);
    this.#timer = setTimeout(() => this.open(), this.#backoff.nextDelay());
  }
}
