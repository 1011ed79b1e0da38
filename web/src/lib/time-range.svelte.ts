// SPDX-License-Identifier: Apache-2.0 OR MIT

// The time range that all pages share. It is stored in the browser; `since` and `until` in the URL take precedence.

import { requery, route } from './router.svelte';

export interface TimeRange {
  /** A duration such as `24h`, a time, or `all`. */
  since: string;
  /** A time; empty for now. */
  until: string;
}

export const PRESETS: [since: string, label: string, title: string][] = [
  ['15m', '15m', 'Last 15 minutes'],
  ['1h', '1h', 'Last hour'],
  ['24h', '24h', 'Last 24 hours'],
  ['7d', '7d', 'Last 7 days'],
  ['all', 'All', 'All records'],
];

const KEY = 'tenterhook-range';
const DEFAULT: TimeRange = { since: '24h', until: '' };

function stored(): TimeRange {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? '') as Partial<TimeRange>;
    return typeof read.since === 'string' && read.since
      ? { since: read.since, until: read.until ?? '' }
      : DEFAULT;
  } catch {
    return DEFAULT;
  }
}

class RangeState {
  #chosen = $state.raw(stored());

  /** The range of the current page. */
  get value(): TimeRange {
    const { since, until } = route.query;
    return since || until ? { since: since ?? 'all', until: until ?? '' } : this.#chosen;
  }

  /** The range as query parameters of the API. */
  get query(): { since?: string; until?: string } {
    const { since, until } = this.value;
    return { since: since === 'all' ? undefined : since, until: until || undefined };
  }

  /** Stores the range, and removes another one from the URL. */
  choose(range: TimeRange) {
    this.#chosen = range;
    localStorage.setItem(KEY, JSON.stringify(range));
    requery({ since: undefined, until: undefined });
  }

  get label(): string {
    const { since, until } = this.value;
    const preset = PRESETS.find(([value]) => value === since && !until);
    return preset ? preset[2].toLowerCase() : `${shortTime(since)} to ${until ? shortTime(until) : 'now'}`;
  }
}

const shortTime = (time: string) => time.replace('T', ' ').replace(/(:\d\d)?(\.\d+)?Z?$/, '$1');

export const range = new RangeState();
