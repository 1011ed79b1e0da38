// SPDX-License-Identifier: Apache-2.0 OR MIT

// Toast messages.

import { errorText } from './api/client';

export interface Toast {
  id: number;
  kind: 'good' | 'bad' | 'plain';
  text: string;
  hint?: string;
}

const TOAST_MS = 6000;
let last = 0;

class Toasts {
  list = $state<Toast[]>([]);

  say(text: string, kind: Toast['kind'] = 'plain', hint?: string) {
    last += 1;
    const toast = { id: last, kind, text, hint };
    this.list = [...this.list.slice(-4), toast];
    // Errors stay until they are dismissed.
    if (kind !== 'bad') setTimeout(() => this.drop(toast.id), TOAST_MS);
  }

  /** Shows an error. */
  failed(error: unknown) {
    const { message, hint } = errorText(error);
    this.say(message, 'bad', hint);
  }

  drop(id: number) {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
