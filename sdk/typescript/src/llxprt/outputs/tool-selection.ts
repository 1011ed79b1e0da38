// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { GenAIToolConfig, ToolListUnion } from "../model.js";
import type { ApplyOptions } from "../translate.js";
import { DefaultHookOutput, isRecord } from "./default.js";

/** What the model is offered. */
interface Offered {
  toolConfig?: GenAIToolConfig;
  tools?: ToolListUnion;
}

/** Before the tools are settled that the model may choose from. */
export class BeforeToolSelectionHookOutput extends DefaultHookOutput {
  /** What the model should be offered, given what it was. */
  applyToolConfigModifications(target: Offered, { partial = "merge" }: ApplyOptions = {}): Offered {
    const config = this.specific("toolConfig");
    if (!isRecord(config)) return target;
    const { mode, allowedFunctionNames } = config as GenAIToolConfig["functionCallingConfig"] & object;
    const calling = {
      ...(mode !== undefined && { mode }),
      ...(allowedFunctionNames !== undefined && { allowedFunctionNames }),
    };
    const base = partial === "merge" ? (target.toolConfig ?? {}) : {};
    const toolConfig = {
      ...base,
      ...(Object.keys(calling).length > 0 && { functionCallingConfig: { ...base.functionCallingConfig, ...calling } }),
      // Read there as well, by some.
      ...(allowedFunctionNames !== undefined && { allowedFunctionNames }),
    };
    return { ...target, tools: target.tools ?? [], toolConfig };
  }
}
