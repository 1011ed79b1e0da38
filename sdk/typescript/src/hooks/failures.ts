// SPDX-License-Identifier: Apache-2.0 OR MIT

import { asError } from "../errors.js";

/**
 * Errors of background work, such as a refused hook. A pending `ready()` throws them. If no `ready()` is pending,
 * `tell` is called with them. An error must not go unnoticed, because the refused hook may be one that guards an
 * agent.
 */
export class Failures {
  #kept: Error[] = [];
  #pending = 0;
  #holders = 0;

  constructor(
    readonly tell: (error: Error) => void,
    readonly changed: () => void,
  ) {}

  /** Marks that a caller waits for errors, until it calls the returned function. */
  hold(): () => void {
    this.#holders += 1;
    return () => {
      this.#holders -= 1;
    };
  }

  add(error: Error): void {
    this.#kept.push(error);
    if (this.#holders === 0) this.tell(error);
    this.changed();
  }

  /** Whether no background work is pending. */
  get isQuiet(): boolean {
    return this.#pending === 0;
  }

  /**
   * Watches a promise. If the caller awaits the returned promise, it rejects with the error. If not, the error is
   * kept here.
   */
  watch<T>(promise: Promise<T>): Promise<T> {
    this.#pending += 1;
    const claimable = new Claimable<T>((resolve) => resolve(promise));
    const over = (error?: unknown) => {
      this.#pending -= 1;
      if (error === undefined || claimable.isClaimed) this.changed();
      else this.add(asError(error));
    };
    Promise.prototype.then.call(claimable, () => over(), over);
    return claimable;
  }

  /** Throws the kept errors, once. */
  throw(): void {
    const [first, ...others] = this.#kept;
    this.#kept = [];
    if (first === undefined) return;
    if (others.length === 0) throw first;
    throw new AggregateError([first, ...others], [first, ...others].map((error) => error.message).join("; "));
  }
}

/** A promise that records whether its result was requested. */
class Claimable<T> extends Promise<T> {
  static override readonly [Symbol.species] = Promise;
  isClaimed = false;

  // biome-ignore lint/suspicious/noThenProperty: awaiting the promise calls it, which is what must be detected
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isClaimed = true;
    return super.then(fulfilled, rejected);
  }
}
