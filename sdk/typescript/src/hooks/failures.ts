// SPDX-License-Identifier: Apache-2.0 OR MIT

import { asError } from "../errors.js";

/**
 * What went wrong in the background. Whoever waits in `ready()` gets it thrown; if nobody does, `tell` hears of it:
 * a guard that is not there must not go unnoticed.
 */
export class Failures {
  #kept: Error[] = [];
  #pending = 0;
  #holders = 0;

  constructor(
    readonly tell: (error: Error) => void,
    readonly changed: () => void,
  ) {}

  /** Somebody waits, until they call what is returned. */
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

  /** Whether nothing is under way. */
  get isQuiet(): boolean {
    return this.#pending === 0;
  }

  /** Keeps an eye on something. What is returned may be awaited, and then has the error; or let go, and then this has. */
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

  /** Throws what is kept, once. */
  throw(): void {
    const [first, ...others] = this.#kept;
    this.#kept = [];
    if (first === undefined) return;
    if (others.length === 0) throw first;
    throw new AggregateError([first, ...others], [first, ...others].map((error) => error.message).join("; "));
  }
}

/** A promise that knows whether anybody has asked for its result. */
class Claimable<T> extends Promise<T> {
  static override readonly [Symbol.species] = Promise;
  isClaimed = false;

  // biome-ignore lint/suspicious/noThenProperty: whoever awaits calls it, which is what has to be known
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isClaimed = true;
    return super.then(fulfilled, rejected);
  }
}
