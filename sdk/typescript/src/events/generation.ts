// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, TokenUsage } from "./base.js";
import type { ToolArgs } from "./tool.js";

/** A model and its parameters. */
export interface ModelConfig {
  name: string;
  provider?: string;
  temperature?: number;
  maxTokens?: number;
  [setting: string]: unknown;
}

/** A tool call of a model. */
export interface ToolCall {
  id: string;
  name: string;
  args: ToolArgs;
}

/** The response of a model. */
export interface Generation {
  text: string;
  toolCalls: ToolCall[];
  usage: TokenUsage;
  /** Run time in milliseconds. */
  duration: number;
}

/** A request is about to be sent to the model. */
export interface GenerateStartEvent extends BaseEvent {
  eventType: "GenerateStart";
  prompt: string;
  systemPrompt?: string;
  model: ModelConfig;
  /** Names of the tools that the model may call. */
  tools: string[];
}

/** The model has responded. */
export interface GenerateEndEvent extends BaseEvent {
  eventType: "GenerateEnd";
  prompt: string;
  model: ModelConfig;
  response: Generation;
}
