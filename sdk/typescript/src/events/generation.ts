// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, TokenUsage } from "./base.js";
import type { ToolArgs } from "./tool.js";

/** Which model, and how it is asked. */
export interface ModelConfig {
  name: string;
  provider?: string;
  temperature?: number;
  maxTokens?: number;
  [setting: string]: unknown;
}

/** A tool call that the model asks for. */
export interface ToolCall {
  id: string;
  name: string;
  args: ToolArgs;
}

/** What the model answered. */
export interface Generation {
  text: string;
  toolCalls: ToolCall[];
  usage: TokenUsage;
  /** In milliseconds. */
  duration: number;
}

/** The model is about to be asked. */
export interface GenerateStartEvent extends BaseEvent {
  eventType: "GenerateStart";
  prompt: string;
  systemPrompt?: string;
  model: ModelConfig;
  /** The names of the tools it is offered. */
  tools: string[];
}

/** The model has answered. */
export interface GenerateEndEvent extends BaseEvent {
  eventType: "GenerateEnd";
  prompt: string;
  model: ModelConfig;
  response: Generation;
}
