// SPDX-License-Identifier: Apache-2.0 OR MIT

// Questions that have to be answered before something is done; and the gate's, which asks for a code.

import { call } from './api/client';
import type { AuthorityProof } from './api/types';

export interface Question<T> {
  title: string;
  text?: string;
  /** What is about to change, old and new. */
  diff?: { before: string; after: string; path?: string };
  /** What the button says. */
  yes?: string;
  danger?: boolean;
  /** What passes the gate, such as `mode monitor`. Without it nobody is asked for a code. */
  action?: string;
  /** The same as a command, for homes without codes. */
  command?: string;
  /** Does it. What it throws is shown in the dialog, which stays open. */
  run: (proof: AuthorityProof) => Promise<T>;
}

export interface Asking {
  question: Question<unknown>;
  /** What the gate wants to see; `unknown` while it is asked. */
  needs: 'unknown' | 'code' | 'tty' | 'nothing';
  done: (result: unknown) => void;
}

class Confirm {
  now = $state<Asking>();
}

export const confirm = new Confirm();

/** Asks, and does it if the answer is yes. Nothing comes back when the answer was no. */
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
    // Whatever it needs, the daemon will say so.
    () => 'code' as const,
  );
  if (confirm.now?.question.action === action) confirm.now = { ...confirm.now, needs };
}
