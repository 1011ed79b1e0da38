// SPDX-License-Identifier: Apache-2.0 OR MIT

// Short messages at the edge of the page.

import { told } from './api/client';

export interface Toast {
  id: number;
  kind: 'good' | 'bad' | 'plain';
  text: string;
  hint?: string;
}

const LONG = 6000;
let last = 0;

class Toasts {
  list = $state<Toast[]>([]);

  say(text: string, kind: Toast['kind'] = 'plain', hint?: string) {
    last += 1;
    const toast = { id: last, kind, text, hint };
    this.list = [...this.list.slice(-4), toast];
    // What went wrong stays until somebody has read it.
    if (kind !== 'bad') setTimeout(() => this.drop(toast.id), LONG);
  }

  /** Says what was thrown. */
  failed(error: unknown) {
    const { message, hint } = told(error);
    this.say(message, 'bad', hint);
  }

  drop(id: number) {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
