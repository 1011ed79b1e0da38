// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { HookEventName } from "./config.js";
import type { HookInput } from "./input.js";
import type { HookToolConfig, LLMRequest, LLMResponse } from "./model.js";
import type { DefaultHookOutput } from "./outputs/default.js";

/** The decisions of a hook. */
export type HookDecision = "ask" | "block" | "deny" | "approve" | "allow" | undefined;

/** The output of a hook. */
export interface HookOutput {
  /** If false, the agent stops. */
  continue?: boolean;
  /** Why the agent stops. */
  stopReason?: string;
  suppressOutput?: boolean;
  /** Message that is added to the conversation. */
  systemMessage?: string;
  decision?: HookDecision;
  reason?: string;
  hookSpecificOutput?: Record<string, unknown>;
}

export interface BeforeToolOutput extends HookOutput {
  hookSpecificOutput?: {
    hookEventName: "BeforeTool";
    permissionDecision?: HookDecision;
    permissionDecisionReason?: string;
    /** Replaces the input of the tool. */
    tool_input?: Record<string, unknown>;
  };
}

export interface AfterToolOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "AfterTool"; additionalContext?: string };
}

export interface BeforeModelOutput extends HookOutput {
  hookSpecificOutput?: {
    hookEventName: "BeforeModel";
    /** Fields that replace those of the request. */
    llm_request?: Partial<LLMRequest>;
    /** Used as the response; the model is not called. */
    llm_response?: LLMResponse;
  };
}

export interface AfterModelOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "AfterModel"; llm_response?: Partial<LLMResponse> };
}

export interface BeforeToolSelectionOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "BeforeToolSelection"; toolConfig?: HookToolConfig };
}

/** The combined result of all hooks of an event. */
export interface AggregatedHookResult {
  success: boolean;
  finalOutput?: DefaultHookOutput;
  allOutputs: HookOutput[];
  errors: Error[];
  /** Total run time in milliseconds. */
  totalDuration: number;
}

/** The consequences for the agent. */
export interface ProcessedHookResult {
  aggregated: AggregatedHookResult;
  shouldStop: boolean;
  stopReason: string | undefined;
  systemMessage: string | undefined;
  suppressOutput: boolean;
}

/** An event for the message bus (`tenterhook bus --profile llxprt`). */
export interface HookExecutionRequest {
  correlationId: string;
  eventName: HookEventName;
  input: HookInput;
}

/** The answer of the message bus. */
export interface HookExecutionResponse {
  correlationId: string;
  success: boolean;
  output?: AggregatedHookResult;
  error?: { code: string; message: string };
}
