// SPDX-License-Identifier: Apache-2.0 OR MIT

// The keys of the dashboard, as the sheet shows them.

import { PAGES } from '../pages';

export interface Shortcut {
  keys: string[];
  what: string;
}

const isMac = typeof navigator !== 'undefined' && navigator.platform.startsWith('Mac');

export const SHORTCUTS: { title: string; keys: Shortcut[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      { keys: [isMac ? '⌘' : 'Ctrl', 'K'], what: 'Search pages, rules and actions' },
      { keys: ['/'], what: 'Go to the search field' },
      { keys: ['?'], what: 'Show this sheet' },
      { keys: ['Esc'], what: 'Close details or a dialog' },
    ],
  },
  {
    title: 'Tables',
    keys: [
      { keys: ['↑', '↓'], what: 'Choose a row' },
      { keys: ['Enter'], what: 'Open the row' },
      { keys: ['Home', 'End'], what: 'First or last row' },
    ],
  },
  { title: 'Pages', keys: PAGES.map(({ key, title }) => ({ keys: ['g', key], what: title })) },
];

/** Whether keys are typed into a field. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
}
