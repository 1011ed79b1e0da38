// SPDX-License-Identifier: Apache-2.0 OR MIT

import { DefaultHookOutput, isRecord } from "./default.js";

/** Output of a hook before a tool runs; both `permissionDecision` and `decision` are read. */
export class BeforeToolHookOutput extends DefaultHookOutput {
  override isBlockingDecision(): boolean {
    const decision = this.specific("permissionDecision");
    return decision === "block" || decision === "deny" || super.isBlockingDecision();
  }

  override getEffectiveReason(): string {
    const reason = this.specific("permissionDecisionReason");
    return typeof reason === "string" ? reason : super.getEffectiveReason();
  }

  /** Returns the complete new input of the tool. */
  getModifiedToolInput(): Record<string, unknown> | undefined {
    const input = this.specific("tool_input");
    return isRecord(input) ? input : undefined;
  }
}
