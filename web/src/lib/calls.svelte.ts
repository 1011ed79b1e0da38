// SPDX-License-Identifier: Apache-2.0 OR MIT

// Tool calls as table rows, newest first: one row for a call, its decision and its result. The daemon pairs them.

import { aborted, call, errorText } from './api/client';
import type { CallPage, Operations, ToolCallRow } from './api/types';
import type { Filter } from './ledger.svelte';

export type Selection = 'notable' | 'all';
type CallQuery = Operations['listCalls']['query'];

/** Number of rows per request. */
const PAGE_ROWS = 100;
/** Distance from the last row at which the next page is requested. */
const PRELOAD_ROWS = 40;
/** Minimum interval between two refreshes, in milliseconds. */
const REFRESH_MS = 250;
/** A slow refresh is followed by a pause of this many times its duration, so that it takes a small part of the time. */
const PAUSE_FACTOR = 4;

/** Number of the oldest record that a row covers. */
export const oldest = (row: ToolCallRow): number => row.folded?.first ?? row.seq;

/** Puts a newer first page before the known rows. Without an overlap it replaces them, because rows are missing between. */
export function withNewest(known: ToolCallRow[], page: CallPage): { rows: ToolCallRow[]; replaced: boolean } {
  const { next } = page;
  const newest = known.reduce((most, row) => Math.max(most, row.seq), -1);
  // The page contains all rows from the record `next` on.
  if (next === null || next === undefined || newest < next) return { rows: page.rows, replaced: true };
  const seen = new Set(page.rows.map((row) => row.seq));
  const rest = known.filter((row) => row.seq < next && !seen.has(row.seq));
  return { rows: [...page.rows, ...rest], replaced: false };
}

export class CallRows {
  rows = $state.raw<ToolCallRow[]>([]);
  /** Number of all records in the ledger. */
  size = $state(0);
  loading = $state(true);
  failed = $state<{ message: string; hint?: string }>();
  /** Position at which the list continues; null at the end. */
  next = $state<number | null | undefined>(undefined);
  #abort = new AbortController();
  #timer?: ReturnType<typeof setTimeout>;
  #last = 0;
  /** Duration of the last refresh, in milliseconds. */
  #took = 0;

  constructor(
    readonly filter: Filter,
    readonly show: Selection,
  ) {}

  get done(): boolean {
    return this.next === null;
  }

  async #page(before?: number): Promise<CallPage> {
    const query = { ...this.filter, show: this.show, limit: PAGE_ROWS, before } as CallQuery;
    return call('listCalls', { query, signal: this.#abort.signal });
  }

  /** Loads the newest rows. Returns the number of rows added at the top. */
  async refresh(): Promise<number> {
    const began = Date.now();
    let added = 0;
    await this.#try(async () => {
      const page = await this.#page();
      const newest = this.rows[0]?.seq ?? -1;
      const { rows, replaced } = withNewest(this.rows, page);
      added = rows.filter((row) => oldest(row) > newest).length;
      this.rows = rows;
      this.size = page.size;
      if (replaced) this.next = page.next ?? null;
    });
    [this.#last, this.#took] = [Date.now(), Date.now() - began];
    return added;
  }

  /** Loads the newest rows soon; several calls cause one request. */
  soon(then: (added: number) => void) {
    const pause = Math.max(REFRESH_MS, this.#took * PAUSE_FACTOR);
    const wait = Math.max(50, this.#last + pause - Date.now());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh().then(then);
    }, wait);
  }

  /** Loads the next page if one of its rows will be shown soon. */
  async want(last: number) {
    if (this.loading || this.next === null || this.next === undefined) return;
    if (last < this.rows.length - PRELOAD_ROWS) return;
    const before = this.next;
    await this.#try(async () => {
      const page = await this.#page(before);
      const known = new Set(this.rows.map((row) => row.seq));
      this.rows = [...this.rows, ...page.rows.filter((row) => !known.has(row.seq))];
      this.next = page.next ?? null;
    });
  }

  stop() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #try(load: () => Promise<void>) {
    this.loading = true;
    try {
      await load();
      this.failed = undefined;
    } catch (error) {
      if (!aborted(error)) this.failed = errorText(error);
    } finally {
      this.loading = false;
    }
  }
}
