// SPDX-License-Identifier: Apache-2.0 OR MIT

// Every page there is: one row each. A page is loaded when somebody goes there.

import type { Component } from 'svelte';

export interface Page {
  /** Its name in the address, `#/<id>`. */
  id: string;
  title: string;
  /** Its picture, of `parts/Icon.svelte`. */
  icon: string;
  /** The letter after `g` that leads there. */
  key: string;
  load: () => Promise<{ default: Component }>;
  /** Whether the page shows what follows its name in the address; without it nothing may follow. */
  accepts?: (rest: string[]) => boolean;
}

const oneOf =
  (...names: string[]) =>
  (rest: string[]) =>
    rest.length === 0 || (rest.length === 1 && names.includes(rest[0] ?? ''));

export const PAGES: Page[] = [
  { id: 'now', title: 'Now', icon: 'pulse', key: 'n', load: () => import('./pages/Now.svelte') },
  {
    id: 'sessions',
    title: 'Sessions',
    icon: 'sessions',
    key: 's',
    load: () => import('./pages/Sessions.svelte'),
    accepts: (rest) => rest.length <= 1,
  },
  {
    id: 'decisions',
    title: 'Decisions',
    icon: 'list',
    key: 'd',
    load: () => import('./pages/Decisions.svelte'),
  },
  {
    id: 'rules',
    title: 'Rules',
    icon: 'rules',
    key: 'r',
    load: () => import('./pages/Rules.svelte'),
    accepts: oneOf('new'),
  },
  {
    id: 'hooks',
    title: 'Hooks',
    icon: 'hook',
    key: 'h',
    load: () => import('./pages/Hooks.svelte'),
    accepts: oneOf('templates', 'build'),
  },
  {
    id: 'approvals',
    title: 'Approvals',
    icon: 'hand',
    key: 'a',
    load: () => import('./pages/Approvals.svelte'),
  },
  {
    id: 'harnesses',
    title: 'Harnesses',
    icon: 'plug',
    key: 'w',
    load: () => import('./pages/Harnesses.svelte'),
  },
  {
    id: 'settings',
    title: 'Settings',
    icon: 'gear',
    key: ',',
    load: () => import('./pages/Settings.svelte'),
  },
];

/** The page of an address, if there is one. */
export function pageAt(parts: string[]): Page | undefined {
  const [id, ...rest] = parts;
  const page = PAGES.find((one) => one.id === id);
  return page && (page.accepts?.(rest) ?? rest.length === 0) ? page : undefined;
}
