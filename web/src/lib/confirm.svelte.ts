// SPDX-License-Identifier: Apache-2.0 OR MIT

// Confirmation of actions. Privileged actions need a code.

import { call } from './api/client';
import type { AuthorityProof } from './api/types';

export interface Question<T> {
  title: string;
  text?: string;
  /** The change, shown as a diff. */
  diff?: { before: string; after: string; path?: string };
  /** Items that the action changes. */
  items?: { name: string; note: string }[];
  /** Number of further items, which are not listed. */
  more?: number;
  /** Label of the confirm button. */
  yes?: string;
  danger?: boolean;
  /** Name of the privileged action, such as `mode monitor`. Without an action, the dialog asks for no code. */
  action?: string;
  /** The equivalent command, shown if no codes are set up. */
  command?: string;
  /** Performs the action. An error is shown in the dialog, which stays open. */
  run: (proof: AuthorityProof) => Promise<T>;
}

export interface Asking {
  question: Question<unknown>;
  /** Proof that the daemon requires; `unknown` until the daemon has replied. */
  needs: 'unknown' | 'code' | 'tty' | 'nothing';
  done: (result: unknown) => void;
}

class Confirm {
  now = $state<Asking>();
}

export const confirm = new Confirm();

/** Shows the dialog and performs the action. Returns undefined if the user cancels. */
export async function ask<T>(question: Question<T>): Promise<T | undefined> {
  const result = await new Promise<unknown>((done) => {
    confirm.now = { question, needs: question.action ? 'unknown' : 'nothing', done };
    if (question.action) void look(question.action);
  });
  confirm.now = undefined;
  return result as T | undefined;
}

async function look(action: string) {
  const needs = await call('getAuthority', { query: { action } }).then(
    (answer) => answer.needs,
    // If the request fails, ask for a code; the daemon reports what it needs.
    () => 'code' as const,
  );
  if (confirm.now?.question.action === action) confirm.now = { ...confirm.now, needs };
}
