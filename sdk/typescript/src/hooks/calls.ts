// SPDX-License-Identifier: Apache-2.0 OR MIT

import { fromData, TenterhookError } from "../errors.js";
import { type HookEvent, HookEventKind, type HookResponse } from "../generated/tenterhook/v1/hooks.js";
import { handlerFailure, toResponse, unknownHook } from "./answer.js";
import { handle } from "./handling.js";
import type { HookContext, HookHandler } from "./types.js";

/** Maximum number of responses that are kept in case the daemon did not receive them. */
const MAX_KEPT_RESPONSES = 1024;

/** The running handlers. Each call runs once and is answered once. */
export class Calls {
  readonly #running = new Map<string, Call>();
  /** The latest responses. When the list is full, a new response replaces the oldest. */
  readonly #answered: { key: string; response: HookResponse }[] = [];
  #next = 0;

  constructor(
    readonly handler: (hookId: string) => HookHandler<never> | undefined,
    readonly send: (response: HookResponse) => void,
  ) {}

  /** Handles a call or a cancellation. */
  receive(event: HookEvent): void {
    const key = `${event.callId} ${event.eventId} ${event.hookId}`;
    if (event.kind === HookEventKind.HOOK_CANCEL) {
      const why = event.error && fromData(event.error);
      const reason = why ?? new TenterhookError("cancelled", "the daemon no longer waits for the response");
      this.#cancel((call) => call.event.callId === event.callId, reason);
      return;
    }
    if (event.redelivered) {
      // The call was already received on a connection that broke: the handler must not run twice.
      if (this.#running.has(key)) return;
      const before = this.#answered.find((answered) => answered.key === key);
      if (before) {
        this.send(before.response);
        return;
      }
    }
    void this.#run(key, event);
  }

  /** Handles a new connection: cancels the calls of hooks that are no longer registered at the daemon. */
  reconnected(hookIds: readonly string[]): void {
    const has = new Set(hookIds);
    const forgotten = new TenterhookError("cancelled", "the daemon no longer knows this call");
    this.#cancel((call) => !has.has(call.hookId), forgotten);
  }

  /** Cancels all running handlers. */
  cancelAll(reason: Error): void {
    this.#cancel(() => true, reason);
  }

  async #run(key: string, event: HookEvent): Promise<void> {
    const handler = this.handler(event.hookId);
    if (!handler) {
      this.send(unknownHook(event));
      return;
    }
    const call = new Call(event);
    this.#running.set(key, call);
    let response: HookResponse;
    try {
      const payload = JSON.parse(event.payload.toString()) as never;
      response = toResponse(event, await handle(event, () => handler(payload, call)));
    } catch (thrown) {
      response = handlerFailure(event, thrown);
    }
    call.done();
    // The call was cancelled: the daemon has decided without the response.
    if (!this.#running.delete(key)) return;
    if (event.timeoutMs === 0) return;
    this.#keep(key, response);
    this.send(response);
  }

  #cancel(whose: (call: Call) => boolean, reason: Error): void {
    for (const [key, call] of this.#running) {
      if (!whose(call)) continue;
      this.#running.delete(key);
      call.abort(reason);
    }
  }

  #keep(key: string, response: HookResponse): void {
    this.#answered[this.#next] = { key, response };
    this.#next = (this.#next + 1) % MAX_KEPT_RESPONSES;
  }
}

/** One call of a handler. Its abort signal is created on first use. */
class Call implements HookContext {
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reason: Error | undefined;
  readonly #received = performance.now();

  constructor(readonly event: HookEvent) {}

  get hookId(): string {
    return this.event.hookId;
  }

  get eventId(): string {
    return this.event.eventId;
  }

  get attempt(): number {
    return this.event.attempt;
  }

  get redelivered(): boolean {
    return this.event.redelivered;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
      else this.#startClock();
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#reason = reason;
    this.done();
    this.#controller?.abort(reason);
  }

  done(): void {
    clearTimeout(this.#timer);
  }

  /** Starts a local timer, because the daemon's cancellation does not arrive if the connection is broken. */
  #startClock(): void {
    const { timeoutMs } = this.event;
    if (timeoutMs === 0) return;
    const left = timeoutMs - (performance.now() - this.#received);
    const over = () => this.abort(new TenterhookError("timed-out", `the time limit of ${timeoutMs} ms is over`));
    this.#timer = setTimeout(over, Math.max(left, 0));
    this.#timer.unref();
  }
}
