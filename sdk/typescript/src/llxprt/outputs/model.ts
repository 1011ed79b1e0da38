// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { GenerateContentParameters, GenerateContentResponse } from "../model.js";
import { type ApplyOptions, applyRequest, toResponse } from "../translate.js";
import { DefaultHookOutput, isRecord } from "./default.js";

/** Output of a hook before a model request. */
export class BeforeModelHookOutput extends DefaultHookOutput {
  /** Returns the response to use instead of calling the model. */
  getSyntheticResponse(): GenerateContentResponse | undefined {
    const response = this.specific("llm_response");
    return isRecord(response) ? toResponse(response) : undefined;
  }

  /** Applies the changes of the hook to the request. */
  applyLLMRequestModifications(target: GenerateContentParameters, options?: ApplyOptions): GenerateContentParameters {
    const request = this.specific("llm_request");
    return isRecord(request) ? applyRequest(request, target, options) : target;
  }
}

/** Output of a hook after a model response. */
export class AfterModelHookOutput extends DefaultHookOutput {
  /** Returns the changed response. If the hook stops the agent, the reason replaces the response. */
  getModifiedResponse(): GenerateContentResponse | undefined {
    const response = this.specific("llm_response");
    if (isRecord(response) && Array.isArray(response.candidates) && isRecord(response.candidates[0]?.content)) {
      return toResponse(response);
    }
    if (!this.shouldStopExecution()) return undefined;
    const content = { role: "model", parts: [{ text: this.getEffectiveReason() }] };
    return { candidates: [{ content, finishReason: "STOP" }] };
  }
}
