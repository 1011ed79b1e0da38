// SPDX-License-Identifier: Apache-2.0 OR MIT

// The ledger key that this browser saw first. A replaced ledger has a different key.

const KEY = 'tenterhook-ledger-key';

export interface Pinned {
  key: string;
  since: string;
}

/** Stores the key if none is stored, and returns the stored one. */
export function pinned(key: string): Pinned {
  const known = localStorage.getItem(KEY);
  if (known) return JSON.parse(known) as Pinned;
  const first = { key, since: new Date().toISOString() };
  localStorage.setItem(KEY, JSON.stringify(first));
  return first;
}

/** Replaces the stored key. */
export function pin(key: string) {
  localStorage.removeItem(KEY);
  pinned(key);
}
