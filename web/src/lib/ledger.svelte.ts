// SPDX-License-Identifier: Apache-2.0 OR MIT

// The ledger as table rows, newest first. Without a filter, the row number gives the record number, so any part of
// a large ledger can be shown directly. With a filter, rows are loaded in the order of the search.

import { aborted, call, errorText } from './api/client';
import type { DecisionLine, LedgerLine, Operations } from './api/types';

export type Filter = Partial<
  Record<'session' | 'harness' | 'tool' | 'verdict' | 'rule' | 'kind' | 'since' | 'until' | 'text', string>
>;

/** Values come from the URL; the daemon rejects unknown ones. */
type LedgerQuery = Operations['lineLedger']['query'];

/** Number of records per request. */
const PAGE = 200;
/** Maximum number of cached pages. */
const MAX_CACHED_PAGES = 60;
/** Delay in milliseconds before visible rows are requested, so that fast scrolling causes no requests. */
const FETCH_DELAY_MS = 40;

export class LedgerRows {
  readonly filter: Filter;
  /** Number of all records, regardless of the filter. */
  size = $state(0);
  loading = $state(false);
  failed = $state<{ message: string; hint?: string }>();
  /** Incremented when rows are added. */
  #version = $state(0);
  #pages = new Map<number, (LedgerLine | undefined)[]>();
  #found: LedgerLine[] = [];
  /** Position at which the search continues; null at the end. */
  #next: number | null | undefined = undefined;
  #timer?: ReturnType<typeof setTimeout>;
  #looking?: AbortController;

  constructor(filter: Filter) {
    this.filter = filter;
  }

  /** Whether a filter is set. */
  get sought(): boolean {
    return Object.keys(this.filter).length > 0;
  }

  get count(): number {
    void this.#version;
    return this.sought ? this.#found.length : this.size;
  }

  /** Whether all matching rows are loaded. */
  get done(): boolean {
    void this.#version;
    return !this.sought || this.#next === null;
  }

  /** The row, if it is loaded. */
  row(index: number): LedgerLine | undefined {
    void this.#version;
    if (this.sought) return this.#found[index];
    const seq = this.size - 1 - index;
    return this.#pages.get(Math.floor(seq / PAGE))?.[seq % PAGE];
  }

  /** Record number of a row. */
  seq(index: number): number | undefined {
    return this.sought ? this.#found[index]?.seq : this.size - 1 - index;
  }

  /** Row of a record, if it is known. */
  index(seq: number): number | undefined {
    void this.#version;
    if (!this.sought) return seq < this.size ? this.size - 1 - seq : undefined;
    const at = this.#found.findIndex((line) => line.seq === seq);
    return at < 0 ? undefined : at;
  }

  /** Loads the first rows. */
  async begin(): Promise<void> {
    await this.#try(async (signal) => {
      const query = { ...this.filter, limit: PAGE } as LedgerQuery;
      const page = await call('lineLedger', { query, signal });
      this.size = page.size;
      if (this.sought) [this.#found, this.#next] = [page.lines, page.next];
      else for (const line of page.lines) this.#put(line);
    });
  }

  /** Requests the rows from first to last. */
  want(first: number, last: number) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fetch(first, last), FETCH_DELAY_MS);
  }

  /** Adds new decisions. Returns the number of rows added at the top. */
  grow(news: DecisionLine[]): number {
    if (this.sought) return 0;
    const before = this.size;
    for (const one of news) {
      if (one.seq >= this.size) this.size = one.seq + 1;
      this.#put(asLine(one));
    }
    this.#version += 1;
    return this.size - before;
  }

  /** Searches for new matching records. Returns the number of rows added at the top. */
  async again(): Promise<number> {
    if (!this.sought || this.loading) return 0;
    let more = 0;
    await this.#try(async (signal) => {
      const query = { ...this.filter, limit: PAGE } as LedgerQuery;
      const page = await call('lineLedger', { query, signal });
      const newest = this.#found[0]?.seq ?? -1;
      const fresh = page.lines.filter((line) => line.seq > newest);
      this.size = page.size;
      this.#found = [...fresh, ...this.#found];
      more = fresh.length;
    });
    return more;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#looking?.abort();
  }

  async #fetch(first: number, last: number) {
    if (this.sought) {
      if (
        last < this.#found.length - PAGE / 2 ||
        this.#next === null ||
        this.#next === undefined ||
        this.loading
      )
        return;
      await this.#try(async (signal) => {
        const query = { ...this.filter, limit: PAGE, before: this.#next ?? undefined } as LedgerQuery;
        const page = await call('lineLedger', { query, signal });
        this.#found = [...this.#found, ...page.lines];
        this.#next = page.next;
      });
      return;
    }
    const [newest, oldest] = [this.size - 1 - first, Math.max(0, this.size - 1 - last)];
    for (let page = Math.floor(newest / PAGE); page >= Math.floor(oldest / PAGE); page -= 1) {
      if (this.#isWhole(page)) continue;
      const query = { before: (page + 1) * PAGE, limit: PAGE };
      const ok = await this.#try(async (signal) => {
        const { lines } = await call('lineLedger', { query, signal });
        for (const line of lines) if (line.seq >= page * PAGE) this.#put(line);
      });
      if (!ok) return;
    }
  }

  #isWhole(page: number): boolean {
    const lines = this.#pages.get(page);
    const expected = Math.min(PAGE, this.size - page * PAGE);
    for (let at = 0; at < expected; at += 1) if (!lines?.[at]) return false;
    return true;
  }

  #put(line: LedgerLine) {
    const page = Math.floor(line.seq / PAGE);
    let lines = this.#pages.get(page);
    if (!lines) {
      lines = new Array(PAGE);
      this.#pages.set(page, lines);
      const oldest = this.#pages.keys().next().value;
      if (this.#pages.size > MAX_CACHED_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    }
    lines[line.seq % PAGE] = line;
  }

  /** Runs a request and aborts the previous one. */
  async #try(ask: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    this.#looking?.abort();
    const looking = new AbortController();
    this.#looking = looking;
    [this.loading, this.failed] = [true, undefined];
    try {
      await ask(looking.signal);
      return true;
    } catch (error) {
      if (!aborted(error)) this.failed = errorText(error);
      return false;
    } finally {
      if (this.#looking === looking) this.loading = false;
      this.#version += 1;
    }
  }
}

function asLine(one: DecisionLine): LedgerLine {
  const { seq, ts, harness, event, session, tool, verdict, rule, by, reason, took_us } = one;
  return {
    seq,
    kind: 'decision',
    ts,
    harness,
    event,
    session,
    tool,
    said: one.prompt,
    verdict,
    rule,
    by,
    reason,
    what: null,
    who: null,
    took_us,
    pruned: false,
  };
}
