// SPDX-License-Identifier: Apache-2.0 OR MIT

// Converts between the model calls that hooks see and Gemini's generate-content format.

import type { Content, GenerateContentParameters, GenerateContentResponse } from "./model.js";

/** The keys of `generationConfig`. */
const GENERATION_CONFIG = ["temperature", "maxOutputTokens", "topP", "topK", "stopSequences"];
/** The keys that LLxprt Code (August 2026) reads and always replaces together. */
const REPLACED_CONFIG = ["temperature", "maxOutputTokens", "topP", "topK"];

/** How to handle values that a hook's partial answer omits. */
export interface ApplyOptions {
  /**
   * `merge`, as in the reference: omitted values stay. `replace`, as in LLxprt Code of August 2026: omitted values of a
   * generation configuration are removed, a system instruction and stop sequences are dropped, and a tool configuration
   * is replaced. Defaults to `merge`.
   */
  partial?: "merge" | "replace";
}

type Fields = Record<string, unknown>;

/**
 * Applies a hook's request to the original request. A hook may write `messages` and `config`, the names that
 * harnesses read, instead of `contents` and `generationConfig`.
 */
export function applyRequest(
  hook: Fields,
  base: GenerateContentParameters,
  { partial = "merge" }: ApplyOptions = {},
): GenerateContentParameters {
  const config = partial === "merge" ? mergedConfig(hook, base.config) : replacedConfig(hook, base.config);
  return {
    ...base,
    model: typeof hook.model === "string" ? hook.model : base.model,
    contents: readContents(hook) ?? base.contents,
    ...(config && { config }),
  };
}

function mergedConfig(hook: Fields, base: Fields = {}): Fields | undefined {
  const given = hook.config ?? hook.generationConfig;
  const { systemInstruction: instruction } = hook;
  if (!isFields(given) && instruction == null) return undefined;
  return {
    ...base,
    ...(isFields(given) && picked(given, GENERATION_CONFIG)),
    ...(instruction != null && { systemInstruction: systemInstruction(instruction) }),
  };
}

function replacedConfig(hook: Fields, base: Fields = {}): Fields | undefined {
  const given = hook.config ?? hook.generationConfig;
  return isFields(given) ? { ...without(base, REPLACED_CONFIG), ...picked(given, REPLACED_CONFIG) } : undefined;
}

/** Normalizes a system instruction: a string, a list of parts, or an object with parts. */
function systemInstruction(given: unknown): Content {
  const parts = isFields(given) && "parts" in given ? given.parts : given;
  const texts = (Array.isArray(parts) ? parts : [parts]).map((part) => ({ text: textOf(part) }));
  return { role: "system", parts: texts };
}

/** Converts the response of a hook. A part may be a string or `{text}`. */
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
