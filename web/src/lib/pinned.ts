// SPDX-License-Identifier: Apache-2.0 OR MIT

// The key that this browser saw first. Whoever replaces the whole ledger has another one.

const KEY = 'tenterhook-ledger-key';

export interface Pinned {
  key: string;
  since: string;
}

/** Remembers the key if none is remembered, and says which one is. */
export function pinned(key: string): Pinned {
  const known = localStorage.getItem(KEY);
  if (known) return JSON.parse(known) as Pinned;
  const first = { key, since: new Date().toISOString() };
  localStorage.setItem(KEY, JSON.stringify(first));
  return first;
}

/** From now on this is the key. */
export function pin(key: string) {
  localStorage.removeItem(KEY);
  pinned(key);
}
