// SPDX-License-Identifier: Apache-2.0 OR MIT

import { DefaultHookOutput, isRecord } from "./default.js";

/** Before a tool runs; `permissionDecision` is read beside `decision`. */
export class BeforeToolHookOutput extends DefaultHookOutput {
  override isBlockingDecision(): boolean {
    const decision = this.specific("permissionDecision");
    return decision === "block" || decision === "deny" || super.isBlockingDecision();
  }

  override getEffectiveReason(): string {
    const reason = this.specific("permissionDecisionReason");
    return typeof reason === "string" ? reason : super.getEffectiveReason();
  }

  /** The input the tool should run with instead: the whole of it. */
  getModifiedToolInput(): Record<string, unknown> | undefined {
    const input = this.specific("tool_input");
    return isRecord(input) ? input : undefined;
  }
}
