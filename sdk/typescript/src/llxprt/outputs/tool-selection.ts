// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { GenAIToolConfig, ToolListUnion } from "../model.js";
import type { ApplyOptions } from "../translate.js";
import { DefaultHookOutput, isRecord } from "./default.js";

/** The tools offered to the model. */
interface Offered {
  toolConfig?: GenAIToolConfig;
  tools?: ToolListUnion;
}

/** Output of a hook before the tools for the model are selected. */
export class BeforeToolSelectionHookOutput extends DefaultHookOutput {
  /** Applies the changes of the hook to the offered tools. */
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
      // Some harnesses also read the names at this level.
      ...(allowedFunctionNames !== undefined && { allowedFunctionNames }),
    };
    return { ...target, tools: target.tools ?? [], toolConfig };
  }
}
