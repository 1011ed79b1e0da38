// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { HookDecision, HookOutput } from "../output.js";

const NO_REASON = "No reason provided";

/** What a hook said, and the questions a harness asks of it. */
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

  /** Whether it objects. The words are case-sensitive: `DENY` does not. */
  isBlockingDecision(): boolean {
    return this.decision === "block" || this.decision === "deny";
  }

  /** Whether it wants the agent to end here. */
  shouldStopExecution(): boolean {
    return this.continue === false;
  }

  /** Why it blocks or stops. */
  getEffectiveReason(): string {
    return this.reason || this.stopReason || NO_REASON;
  }

  /** What it adds to the context. */
  getAdditionalContext(): string | undefined {
    const context = this.specific("additionalContext");
    return typeof context === "string" ? context : undefined;
  }

  /** Whether it objects, and why. */
  getBlockingError(): { blocked: boolean; reason: string } {
    const blocked = this.isBlockingDecision();
    return { blocked, reason: blocked ? this.getEffectiveReason() : "" };
  }

  /** A field of what is special to the event. */
  protected specific(key: string): unknown {
    return this.hookSpecificOutput?.[key];
  }
}

/** Whether it is an object with keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
