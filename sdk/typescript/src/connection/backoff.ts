// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The first and the longest delay. */
const MIN_DELAY_MS = 50;
const MAX_DELAY_MS = 5000;

/** Delay before the next attempt: doubled each time, with random jitter so that clients do not all reconnect at once. */
export class Backoff {
  #next = MIN_DELAY_MS;

  /** Returns the next delay in milliseconds. */
  nextDelay(random: () => number = Math.random): number {
    const delay = this.#next * (0.5 + random() / 2);
    this.#next = Math.min(this.#next * 2, MAX_DELAY_MS);
    return delay;
  }

  /** Starts again with the shortest delay, after a success. */
  reset(): void {
    this.#next = MIN_DELAY_MS;
  }
}
