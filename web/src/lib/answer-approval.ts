// SPDX-License-Identifier: Apache-2.0 OR MIT

// Answers to calls that wait for an approval.

import { call } from './api/client';
import type { Approval } from './api/types';
import { ask } from './confirm.svelte';
import { toasts } from './toasts.svelte';

export type ApprovalScope = 'once' | 'session' | 'rule';

export const SCOPES: [scope: ApprovalScope, title: string, about: string][] = [
  ['once', 'Approve once', 'Approves this call only.'],
  ['session', 'For this session', 'Approves all calls that the same rules ask about in this session.'],
  ['rule', 'As a rule', 'Adds an exception to your policy for exactly this call in this directory.'],
];

/** Approves a call after the dialog that asks for a code, if one is needed. */
export async function approve(approval: Approval, scope: ApprovalScope, note = '') {
  // Approve the call that is shown now, not one that replaces it while the code is typed.
  const { id, digest } = approval;
  const [, title, about] = SCOPES.find(([one]) => one === scope) ?? ['once', 'Approve once', ''];
  const done = await ask({
    title: `${title}: ${approval.wants}`,
    text: about,
    yes: 'Approve',
    action: 'approve',
    command: `tenterhook approvals approve ${approval.name}${scope === 'once' ? '' : ` --for ${scope}`}`,
    run: (proof) =>
      call('answerApproval', {
        path: { id },
        body: { answer: 'approve', digest, for: scope, note: note || undefined, proof },
      }),
  });
  if (done) toasts.say('Approved', 'good');
}

export async function deny(approval: Approval, note = '') {
  try {
    await call('answerApproval', {
      path: { id: approval.id },
      body: { answer: 'deny', note: note || undefined },
    });
    toasts.say('Denied');
  } catch (error) {
    toasts.failed(error);
  }
}
