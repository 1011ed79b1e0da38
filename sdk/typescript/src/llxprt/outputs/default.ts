// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { HookDecision, HookOutput } from "../output.js";

const NO_REASON = "No reason provided";

/** The output of a hook, with methods for a harness. */
export class DefaultHookOutput implements HookOutput {
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  systemMessage?: string;
  decision?: HookDecision;
  reason?: string;
  hookSpecificOutput?: Record<string, unknown>;

  constructor(output: HookOutput = {}) {
    Object.assign(this, output);
  }

  /** Whether the hook blocks. Decisions are case-sensitive: `DENY` does not block. */
  isBlockingDecision(): boolean {
    return this.decision === "block" || this.decision === "deny";
  }

  /** Whether the hook stops the agent. */
  shouldStopExecution(): boolean {
    return this.continue === false;
  }

  /** Returns why the hook blocks the action or stops the agent. */
  getEffectiveReason(): string {
    return this.reason || this.stopReason || NO_REASON;
  }

  /** Returns additional text for the model. */
  getAdditionalContext(): string | undefined {
    const context = this.specific("additionalContext");
    return typeof context === "string" ? context : undefined;
  }

  /** Whether the hook blocks, with the reason. */
  getBlockingError(): { blocked: boolean; reason: string } {
    const blocked = this.isBlockingDecision();
    return { blocked, reason: blocked ? this.getEffectiveReason() : "" };
  }

  /** Returns a field of `hookSpecificOutput`. */
  protected specific(key: string): unknown {
    return this.hookSpecificOutput?.[key];
  }
}

/** Returns whether a value is an object with keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
