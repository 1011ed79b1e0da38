// SPDX-License-Identifier: Apache-2.0 OR MIT

// The pages of the dashboard, one row each. A page other than the first is loaded when it is opened.

import type { Component } from 'svelte';
import Now from './pages/Now.svelte';

export interface Page {
  /** Name in the URL, `#/<id>`. */
  id: string;
  title: string;
  /** Name of an icon in `parts/Icon.svelte`. */
  icon: string;
  /** Key that opens the page after `g`. */
  key: string;
  load: () => Promise<{ default: Component }>;
  /** Whether the page accepts the rest of the path after its name. Without this function, the rest must be empty. */
  accepts?: (rest: string[]) => boolean;
}

const oneOf =
  (...names: string[]) =>
  (rest: string[]) =>
    rest.length === 0 || (rest.length === 1 && names.includes(rest[0] ?? ''));

export const PAGES: Page[] = [
  // The first page is part of the first file: its many small files took longer to request than to run.
  {
    id: 'now',
    title: 'Now',
    icon: 'pulse',
    key: 'n',
    load: () => Promise.resolve({ default: Now }),
  },
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
    id: 'approvals',
    title: 'Approvals',
    icon: 'hand',
    key: 'a',
    load: () => import('./pages/Approvals.svelte'),
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
    id: 'sandbox',
    title: 'Sandbox',
    icon: 'box',
    key: 'x',
    load: () => import('./pages/Sandbox.svelte'),
  },
  {
    id: 'programs',
    title: 'Programs',
    icon: 'book',
    key: 'p',
    load: () => import('./pages/Programs.svelte'),
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

/** The page of a path, if there is one. */
export function pageAt(parts: string[]): Page | undefined {
  const [id, ...rest] = parts;
  const page = PAGES.find((one) => one.id === id);
  return page && (page.accepts?.(rest) ?? rest.length === 0) ? page : undefined;
}
