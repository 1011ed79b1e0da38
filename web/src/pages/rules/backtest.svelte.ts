// SPDX-License-Identifier: Apache-2.0 OR MIT

// What a text of rules would have changed, asked once for each text.

import { call, told } from '../../lib/api/client';
import type { BacktestReport } from '../../lib/api/types';
import { count } from '../../lib/format';

export class Trial {
  /** The text that was tried. */
  text = $state<string>();
  result = $state<BacktestReport>();
  busy = $state(false);
  failed = $state<{ message: string; hint?: string }>();

  /** Tries a text, if it was not tried already. */
  async run(text: string): Promise<BacktestReport | undefined> {
    if (this.text === text && this.result) return this.result;
    [this.busy, this.failed, this.result, this.text] = [true, undefined, undefined, text];
    try {
      this.result = await call('backtestPolicy', { body: { text } });
    } catch (error) {
      this.failed = told(error);
    }
    this.busy = false;
    return this.result;
  }
}

/** This would have changed 14 of 3,201 decisions. */
export function sentence(result: BacktestReport): string {
  const changed = result.differences.length + result.unnamed;
  const of = `of ${count(result.replayed)} decision${result.replayed === 1 ? '' : 's'}`;
  return changed === 0
    ? `This would have changed none ${of}.`
    : `This would have changed ${count(changed)} ${of}.`;
}
