// SPDX-License-Identifier: Apache-2.0 OR MIT

// Between what a hook sees of a model call and Gemini's generate-content form.

import type { Content, GenerateContentParameters, GenerateContentResponse } from "./model.js";

/** The keys of a generation configuration that a hook gets to see: who sends one sends all of them. */
const CONFIG = ["temperature", "maxOutputTokens", "topP", "topK"];

type Fields = Record<string, unknown>;

/** A request that a hook gave, laid over the one there was. `messages` and `config` are the names the programs read. */
export function applyRequest(hook: Fields, base: GenerateContentParameters): GenerateContentParameters {
  const contents = readContents(hook);
  const config = hook.config ?? hook.generationConfig;
  return {
    ...base,
    model: typeof hook.model === "string" ? hook.model : base.model,
    contents: contents ?? base.contents,
    ...(isFields(config) && { config: { ...without(base.config ?? {}, CONFIG), ...picked(config, CONFIG) } }),
  };
}

/** A response that a hook gave. A part may be text or `{text}`. */
export function toResponse(hook: Fields): GenerateContentResponse {
  const candidates = Array.isArray(hook.candidates) ? hook.candidates.filter(isFields) : [];
  return {
    ...picked(hook, ["text", "usageMetadata"]),
    candidates: candidates.map((candidate) => ({
      ...picked(candidate, ["finishReason", "index", "safetyRatings"]),
      content: { role: "model", parts: partsOf(candidate.content).map((part) => ({ text: textOf(part) })) },
    })),
  };
}

function readContents({ messages, contents }: Fields): Content[] | undefined {
  if (Array.isArray(messages)) {
    return messages.filter(isFields).map(({ role, content }) => entry(role, String(content ?? "")));
  }
  if (!Array.isArray(contents)) return undefined;
  return contents.filter(isFields).map((content) => entry(content.role, partsOf(content).map(textOf).join("")));
}

function entry(role: unknown, text: string): Content {
  return { ...(typeof role === "string" && { role }), parts: [{ text }] };
}

function partsOf(content: unknown): unknown[] {
  return isFields(content) && Array.isArray(content.parts) ? content.parts : [];
}

function textOf(part: unknown): string {
  if (typeof part === "string") return part;
  return isFields(part) && typeof part.text === "string" ? part.text : "";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function picked(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.filter((key) => fields[key] != null).map((key) => [key, fields[key]]));
}

function without(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}
