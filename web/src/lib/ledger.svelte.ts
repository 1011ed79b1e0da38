// SPDX-License-Identifier: Apache-2.0 OR MIT

// The ledger as rows of a table, newest first. Without a filter every row has its number, so any part of
// a million can be looked at; with one, rows come in the order the ledger finds them.

import { aborted, call, told } from './api/client';
import type { DecisionLine, LedgerLine, Operations } from './api/types';

export type Filter = Partial<
  Record<'session' | 'harness' | 'tool' | 'verdict' | 'rule' | 'kind' | 'since' | 'until' | 'text', string>
>;

/** Values come from the address bar; the daemon rejects what it does not know. */
type LedgerQuery = Operations['lineLedger']['query'];

/** How many leaves are asked for at once. */
const PAGE = 200;
/** How many pages are remembered. */
const KEPT = 60;
/** Rows that fly by are not asked for. */
const PATIENCE = 40;

export class LedgerRows {
  readonly filter: Filter;
  /** Leaves in all, whether they fit or not. */
  size = $state(0);
  loading = $state(false);
  failed = $state<{ message: string; hint?: string }>();
  /** Counts up when rows are there that were not. */
  #version = $state(0);
  #pages = new Map<number, (LedgerLine | undefined)[]>();
  #found: LedgerLine[] = [];
  /** Where the search goes on; null at the end. */
  #next: number | null | undefined = undefined;
  #timer?: ReturnType<typeof setTimeout>;
  #looking?: AbortController;

  constructor(filter: Filter) {
    this.filter = filter;
  }

  /** Whether rows are found one after the other. */
  get sought(): boolean {
    return Object.keys(this.filter).length > 0;
  }

  get count(): number {
    void this.#version;
    return this.sought ? this.#found.length : this.size;
  }

  /** Whether the search is over. */
  get done(): boolean {
    void this.#version;
    return !this.sought || this.#next === null;
  }

  /** The row, if it is there already. */
  row(index: number): LedgerLine | undefined {
    void this.#version;
    if (this.sought) return this.#found[index];
    const seq = this.size - 1 - index;
    return this.#pages.get(Math.floor(seq / PAGE))?.[seq % PAGE];
  }

  /** The number of the row's leaf. */
  seq(index: number): number | undefined {
    return this.sought ? this.#found[index]?.seq : this.size - 1 - index;
  }

  /** The row of a leaf, if it is known. */
  index(seq: number): number | undefined {
    void this.#version;
    if (!this.sought) return seq < this.size ? this.size - 1 - seq : undefined;
    const at = this.#found.findIndex((line) => line.seq === seq);
    return at < 0 ? undefined : at;
  }

  /** Begins. */
  async begin(): Promise<void> {
    await this.#try(async (signal) => {
      const query = { ...this.filter, limit: PAGE } as LedgerQuery;
      const page = await call('lineLedger', { query, signal });
      this.size = page.size;
      if (this.sought) [this.#found, this.#next] = [page.lines, page.next];
      else for (const line of page.lines) this.#put(line);
    });
  }

  /** Rows from first to last are looked at. */
  want(first: number, last: number) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fetch(first, last), PATIENCE);
  }

  /** New decisions came. Returns how many rows are new above. */
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

  /** Looks whether more fits by now. Returns how many rows are new above. */
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
      if (this.#pages.size > KEPT && oldest !== undefined) this.#pages.delete(oldest);
    }
    lines[line.seq % PAGE] = line;
  }

  /** Asks; what was asked before and not answered is not needed any more. */
  async #try(ask: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    this.#looking?.abort();
    const looking = new AbortController();
    this.#looking = looking;
    [this.loading, this.failed] = [true, undefined];
    try {
      await ask(looking.signal);
      return true;
    } catch (error) {
      if (!aborted(error)) this.failed = told(error);
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
