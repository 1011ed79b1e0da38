// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { HookEventName } from "./config.js";
import type { HookInput } from "./input.js";
import type { HookToolConfig, LLMRequest, LLMResponse } from "./model.js";
import type { DefaultHookOutput } from "./outputs/default.js";

/** What a hook can decide. */
export type HookDecision = "ask" | "block" | "deny" | "approve" | "allow" | undefined;

/** What a hook says. */
export interface HookOutput {
  /** False: the agent stops. */
  continue?: boolean;
  /** Why it stops. */
  stopReason?: string;
  suppressOutput?: boolean;
  /** Put into the conversation. */
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
    /** Takes the place of what was asked for. */
    tool_input?: Record<string, unknown>;
  };
}

export interface AfterToolOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "AfterTool"; additionalContext?: string };
}

export interface BeforeModelOutput extends HookOutput {
  hookSpecificOutput?: {
    hookEventName: "BeforeModel";
    /** Laid over the request. */
    llm_request?: Partial<LLMRequest>;
    /** Taken for the model's answer; the model is not asked. */
    llm_response?: LLMResponse;
  };
}

export interface AfterModelOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "AfterModel"; llm_response?: Partial<LLMResponse> };
}

export interface BeforeToolSelectionOutput extends HookOutput {
  hookSpecificOutput?: { hookEventName: "BeforeToolSelection"; toolConfig?: HookToolConfig };
}

/** What all hooks of an event came to. */
export interface AggregatedHookResult {
  success: boolean;
  finalOutput?: DefaultHookOutput;
  allOutputs: HookOutput[];
  errors: Error[];
  /** In milliseconds. */
  totalDuration: number;
}

/** What the agent is to do about it. */
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

/** What the message bus answers. */
export interface HookExecutionResponse {
  correlationId: string;
  success: boolean;
  output?: AggregatedHookResult;
  error?: { code: string; message: string };
}
