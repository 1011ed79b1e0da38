// SPDX-License-Identifier: Apache-2.0 OR MIT

// The event stream of the daemon: one for the whole page, reconnected automatically.

import { aborted, request } from './api/client';
import { read, type StreamEvent } from './api/sse';
import type { ApprovalList, DecisionLine, SessionSummary } from './api/types';

/** Event data by event name. */
export interface News {
  /** The stream is connected. Missed events are not sent again, so listeners reload their data. */
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

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5000;
/** How long a hidden page keeps its stream, in milliseconds. */
const HIDDEN_TIMEOUT_MS = 30_000;

class Live {
  /** Whether the stream is open. */
  connected = $state(false);
  /** When the connection was lost; undefined while it is open and before it was open for the first time. */
  lostAt = $state<number>();
  /** Number of events that the daemon skipped because this page was too slow. */
  missed = $state(0);

  /** Whether a hidden page keeps its stream, because it shows notifications. */
  keepsHidden = () => false;

  #listeners = new Map<string, Set<Listener<keyof News>>>();
  #waiting = new Map<string, unknown[]>();
  #frame = 0;
  #wanted = false;
  #hidden?: ReturnType<typeof setTimeout>;
  #running?: AbortController;
  #retry = () => {};

  /** Listens to one event, in at most one batch per frame. Returns a function that stops listening. */
  on<Name extends keyof News>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener as unknown as Listener<keyof News>);
    return () => listeners.delete(listener as unknown as Listener<keyof News>);
  }

  /** Opens the stream while the page is visible. */
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

  /** Connects again at once. */
  retry() {
    this.#retry();
  }

  /**
   * Closes the stream of a hidden page, because a browser opens only six connections to a server for all tabs
   * together.
   */
  #look = () => {
    clearTimeout(this.#hidden);
    if (document.hidden && !this.keepsHidden())
      this.#hidden = setTimeout(() => this.#close(), HIDDEN_TIMEOUT_MS);
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
    let wait = FIRST_RETRY_MS;
    while (!signal.aborted) {
      try {
        const response = await request('stream', { signal });
        wait = FIRST_RETRY_MS;
        [this.connected, this.lostAt] = [true, undefined];
        await read(response, (events) => this.#take(events));
      } catch (error) {
        if (aborted(error)) return;
      }
      if (signal.aborted) return;
      this.lostAt ??= Date.now();
      this.connected = false;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, wait);
        this.#retry = () => {
          clearTimeout(timer);
          done();
        };
      });
      wait = Math.min(wait * 2, MAX_RETRY_MS);
    }
  }

  #take(events: StreamEvent[]) {
    for (const { event, data } of events) {
      if (event === 'hello') {
        // Told at once: a listener that is registered later loads its data later, so it missed nothing.
        const news = [JSON.parse(data)] as News[keyof News][];
        for (const listener of this.#listeners.get(event) ?? []) listener(news);
        continue;
      }
      const batch = this.#waiting.get(event) ?? [];
      this.#waiting.set(event, batch);
      batch.push(JSON.parse(data));
    }
    // A hidden page gets no animation frames, but timers still fire.
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
