// SPDX-License-Identifier: Apache-2.0 OR MIT

import { fromData, TenterhookError } from "../errors.js";
import { type HookEvent, HookEventKind, type HookResponse } from "../generated/tenterhook/v1/hooks.js";
import { answer, threw, unknown } from "./answer.js";
import { handle } from "./handling.js";
import type { HookContext, HookHandler } from "./types.js";

/** How many answers are kept in case the daemon did not get them. */
const KEPT_ANSWERS = 1024;

/** The calls of handlers that are under way: each question is asked once, and answered once. */
export class Calls {
  readonly #running = new Map<string, Call>();
  /** The latest answers; each takes the place of the oldest. */
  readonly #answered: { key: string; response: HookResponse }[] = [];
  #next = 0;

  constructor(
    readonly handler: (hookId: string) => HookHandler<never> | undefined,
    readonly send: (response: HookResponse) => void,
  ) {}

  /** A question, or word that nobody waits for its answer any more. */
  receive(event: HookEvent): void {
    const key = `${event.callId} ${event.eventId} ${event.hookId}`;
    if (event.kind === HookEventKind.HOOK_CANCEL) {
      const why = event.error && fromData(event.error);
      const reason = why ?? new TenterhookError("cancelled", "nobody waits for the answer any more");
      this.#cancel((call) => call.event.callId === event.callId, reason);
      return;
    }
    if (event.redelivered) {
      // It came over a connection that broke: whoever has it already is not asked twice.
      if (this.#running.has(key)) return;
      const before = this.#answered.find((answered) => answered.key === key);
      if (before) {
        this.send(before.response);
        return;
      }
    }
    void this.#run(key, event);
  }

  /** A new connection: the daemon has forgotten the other hooks, and with them what it asked. */
  reconnected(hookIds: readonly string[]): void {
    const has = new Set(hookIds);
    const forgotten = new TenterhookError("cancelled", "the daemon does not know any more that it asked");
    this.#cancel((call) => !has.has(call.hookId), forgotten);
  }

  /** Nobody waits for anything any more. */
  cancelAll(reason: Error): void {
    this.#cancel(() => true, reason);
  }

  async #run(key: string, event: HookEvent): Promise<void> {
    const handler = this.handler(event.hookId);
    if (!handler) {
      this.send(unknown(event));
      return;
    }
    const call = new Call(event);
    this.#running.set(key, call);
    let response: HookResponse;
    try {
      const payload = JSON.parse(event.payload.toString()) as never;
      response = answer(event, await handle(event, () => handler(payload, call)));
    } catch (thrown) {
      response = threw(event, thrown);
    }
    call.done();
    // Cancelled meanwhile: the daemon has decided without us.
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
    this.#next = (this.#next + 1) % KEPT_ANSWERS;
  }
}

/** One call of a handler. What nobody looks at, a signal above all, is not made. */
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

  /** The daemon says when the time is over; if the connection broke, nobody would. */
  #startClock(): void {
    const { timeoutMs } = this.event;
    if (timeoutMs === 0) return;
    const left = timeoutMs - (performance.now() - this.#received);
    const over = () => this.abort(new TenterhookError("timed-out", `the hook's ${timeoutMs} ms are over`));
    this.#timer = setTimeout(over, Math.max(left, 0));
    this.#timer.unref();
  }
}
