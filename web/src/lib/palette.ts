// SPDX-License-Identifier: Apache-2.0 OR MIT

// The entries of the command palette, and how a query ranks them.

export interface PaletteEntry {
  title: string;
  /** Kind of the entry, such as `Page` or `Rule`. */
  kind: string;
  /** More words that find the entry. */
  words?: string;
  run: () => void;
}

/** Rank of an entry; undefined if a word of the query is missing. Lower is better. */
export function rank(entry: PaletteEntry, query: string): number | undefined {
  const title = entry.title.toLowerCase();
  const all = `${title} ${entry.kind.toLowerCase()} ${entry.words?.toLowerCase() ?? ''}`;
  let sum = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    if (!all.includes(word)) return undefined;
    const at = title.indexOf(word);
    sum += at === 0 ? 0 : at > 0 ? (/[^a-z0-9]/.test(title[at - 1] ?? '') ? 1 : 3) : 5;
  }
  return sum;
}

/** The best entries for a query. The order of entries with the same rank is kept. */
export function bestEntries(entries: PaletteEntry[], query: string, limit: number): PaletteEntry[] {
  return entries
    .map((entry) => ({ entry, value: rank(entry, query) }))
    .filter((one): one is { entry: PaletteEntry; value: number } => one.value !== undefined)
    .sort((a, b) => a.value - b.value)
    .slice(0, limit)
    .map(({ entry }) => entry);
}
