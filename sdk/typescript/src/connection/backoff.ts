// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The first pause, and the longest one, in milliseconds. */
const FIRST = 50;
const LONGEST = 5000;

/** How long to wait before the next attempt: twice as long each time, and never all clients at once. */
export class Backoff {
  #next = FIRST;

  /** The next pause, in milliseconds. */
  pause(random: () => number = Math.random): number {
    const pause = this.#next * (0.5 + random() / 2);
    this.#next = Math.min(this.#next * 2, LONGEST);
    return pause;
  }

  /** It worked: the next failure is a first one again. */
  reset(): void {
    this.#next = FIRST;
  }
}
