// SPDX-License-Identifier: Apache-2.0 OR MIT

// What happens right now: one stream for the whole page, which comes back by itself.

import { aborted, request } from './api/client';
import { read, type Told } from './api/sse';
import type { ApprovalList, DecisionLine, SessionSummary } from './api/types';

/** What is told, by its name. */
export interface News {
  /** The stream is there (again): what was missed is not told, so look again. */
  hello: { version: string; generation: string };
  decided: DecisionLine;
  session: SessionSummary;
  approvals: ApprovalList;
  generation: { generation: string; problems: unknown[]; stale: unknown[] };
  verify: unknown;
  warning: { what: string };
  lagged: { missed: number };
}

type Listener<Name extends keyof News> = (news: News[Name][]) => void;

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** How long a page that is not seen keeps its stream. */
const UNSEEN = 30_000;

class Live {
  /** Whether the stream is open. */
  connected = $state(false);
  /** How many events the daemon had to leave out because this page was too slow. */
  missed = $state(0);

  #listeners = new Map<string, Set<Listener<keyof News>>>();
  #waiting = new Map<string, unknown[]>();
  #frame = 0;
  #wanted = false;
  #hidden?: ReturnType<typeof setTimeout>;
  #running?: AbortController;

  /** Hears news of one name, in batches of at most one per frame. Returns how to stop. */
  on<Name extends keyof News>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener as unknown as Listener<keyof News>);
    return () => listeners.delete(listener as unknown as Listener<keyof News>);
  }

  /** Opens the stream, as long as somebody looks. */
  start() {
    if (this.#wanted) return;
    this.#wanted = true;
    document.addEventListener('visibilitychange', this.#look);
    this.#look();
  }

  stop() {
    this.#wanted = false;
    document.removeEventListener('visibilitychange', this.#look);
    clearTimeout(this.#hidden);
    this.#close();
  }

  /** A browser has six connections to us, for all of its tabs: one that nobody sees gives its own up. */
  #look = () => {
    clearTimeout(this.#hidden);
    if (document.hidden) this.#hidden = setTimeout(() => this.#close(), UNSEEN);
    else this.#open();
  };

  #open() {
    if (this.#running) return;
    this.#running = new AbortController();
    void this.#run(this.#running.signal);
  }

  #close() {
    this.#running?.abort();
    this.#running = undefined;
    this.connected = false;
  }

  async #run(signal: AbortSignal) {
    let wait = FIRST_WAIT;
    while (!signal.aborted) {
      try {
        const response = await request('stream', { signal });
        wait = FIRST_WAIT;
        this.connected = true;
        await read(response, (events) => this.#take(events));
      } catch (error) {
        if (aborted(error)) return;
      }
      this.connected = false;
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  #take(events: Told[]) {
    for (const { event, data } of events) {
      const batch = this.#waiting.get(event) ?? [];
      this.#waiting.set(event, batch);
      batch.push(JSON.parse(data));
    }
    // A page that is not seen gets no frames; a timer still fires there.
    if (this.#frame === 0) {
      this.#frame = 1;
      if (document.hidden) setTimeout(() => this.#tell(), 200);
      else requestAnimationFrame(() => this.#tell());
    }
  }

  #tell() {
    this.#frame = 0;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const lost of (waiting.get('lagged') ?? []) as News['lagged'][]) this.missed += lost.missed;
    for (const [name, batch] of waiting) {
      for (const listener of this.#listeners.get(name) ?? []) listener(batch as News[keyof News][]);
    }
  }
}

export const live = new Live();
