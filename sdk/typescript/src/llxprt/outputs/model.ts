// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { GenerateContentParameters, GenerateContentResponse } from "../model.js";
import { type ApplyOptions, applyRequest, toResponse } from "../translate.js";
import { DefaultHookOutput, isRecord } from "./default.js";

/** Before a model is asked. */
export class BeforeModelHookOutput extends DefaultHookOutput {
  /** An answer to take for the model's. */
  getSyntheticResponse(): GenerateContentResponse | undefined {
    const response = this.specific("llm_response");
    return isRecord(response) ? toResponse(response) : undefined;
  }

  /** The request as it should be, given what it was. */
  applyLLMRequestModifications(target: GenerateContentParameters, options?: ApplyOptions): GenerateContentParameters {
    const request = this.specific("llm_request");
    return isRecord(request) ? applyRequest(request, target, options) : target;
  }
}

/** After a model has answered. */
export class AfterModelHookOutput extends DefaultHookOutput {
  /** The answer as it should be. A stop takes the answer's place, with its reason. */
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
