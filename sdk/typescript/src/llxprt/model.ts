// SPDX-License-Identifier: Apache-2.0 OR MIT

/** Text, or an object with a `text` field. */
export type TextPart = string | { text: string };

/** A request to a model, as a hook sees it. */
export interface LLMRequest {
  model?: string;
  contents?: { role: "user" | "model"; parts: TextPart[] }[];
  systemInstruction?: { role: "system"; parts: TextPart[] };
  generationConfig?: {
    temperature?: number;
    maxOutputTokens?: number;
    topP?: number;
    topK?: number;
    stopSequences?: string[];
  };
}

/** A response of a model, as a hook sees it. */
export interface LLMResponse {
  candidates?: { content: { role: "model"; parts: TextPart[] }; finishReason?: string }[];
}

/** The tools that the model may call. */
export interface HookToolConfig {
  mode?: "AUTO" | "ANY" | "NONE";
  allowedFunctionNames?: string[];
}

/** A message in Gemini's generate-content format. */
export interface Content {
  role?: string;
  parts?: Record<string, unknown>[];
}

/** Gemini's generate-content request, reduced to the fields used here. */
export interface GenerateContentParameters {
  model: string;
  contents: Content[];
  config?: Record<string, unknown>;
  [key: string]: unknown;
}

/** Gemini's generate-content response, reduced to the fields used here. */
export interface GenerateContentResponse {
  candidates: { content: Content; finishReason?: string; [key: string]: unknown }[];
  [key: string]: unknown;
}

/** Gemini's tool configuration, reduced to the fields used here. */
export interface GenAIToolConfig {
  functionCallingConfig?: HookToolConfig;
  [key: string]: unknown;
}

/** Gemini's list of tools. */
export type ToolListUnion = unknown[];
