// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { LLMRequest, LLMResponse } from "./model.js";

/** Fields of every hook input. */
export interface HookInput {
  session_id: string;
  /** May be empty. */
  transcript_path: string;
  cwd: string;
  hook_event_name: string;
  /** Time in ISO 8601 format. */
  timestamp: string;
}

export interface BeforeToolInput extends HookInput {
  tool_name: string;
  tool_input: Record<string, unknown>;
}

export interface AfterToolInput extends HookInput {
  tool_name: string;
  tool_input: Record<string, unknown>;
  tool_response: Record<string, unknown>;
}

export interface BeforeModelInput extends HookInput {
  llm_request: LLMRequest;
}

export interface AfterModelInput extends HookInput {
  llm_request: LLMRequest;
  llm_response: LLMResponse;
}

export interface BeforeToolSelectionInput extends HookInput {
  llm_request: LLMRequest;
}

export interface SessionStartInput extends HookInput {
  source: "startup" | "resume" | "clear" | "compress";
}

export interface SessionEndInput extends HookInput {
  reason: "exit" | "clear" | "logout" | "prompt_input_exit" | "other";
}

export interface BeforeAgentInput extends HookInput {
  prompt: string;
}

export interface AfterAgentInput extends HookInput {
  prompt: string;
  prompt_response: string;
  stop_hook_active: boolean;
}
