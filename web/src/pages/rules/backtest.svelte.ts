// SPDX-License-Identifier: Apache-2.0 OR MIT

// Backtest of a policy text, cached for the last text.

import { call, errorText } from '../../lib/api/client';
import type { BacktestReport } from '../../lib/api/types';
import { count } from '../../lib/format';

export class Backtest {
  /** Text of the last backtest. */
  text = $state<string>();
  result = $state<BacktestReport>();
  busy = $state(false);
  failed = $state<{ message: string; hint?: string }>();

  /** Runs a backtest, unless this text was the last one. */
  async run(text: string): Promise<BacktestReport | undefined> {
    if (this.text === text && this.result) return this.result;
    [this.busy, this.failed, this.result, this.text] = [true, undefined, undefined, text];
    try {
      this.result = await call('backtestPolicy', { body: { text } });
    } catch (error) {
      this.failed = errorText(error);
    }
    this.busy = false;
    return this.result;
  }
}

/** Summary: `This would have changed 14 of 3,201 decisions.` */
export function sentence(result: BacktestReport): string {
  const changed = result.differences.length + result.unnamed;
  const of = `of ${count(result.replayed)} decision${result.replayed === 1 ? '' : 's'}`;
  return changed === 0
    ? `This would have changed none ${of}.`
    : `This would have changed ${count(changed)} ${of}.`;
}
