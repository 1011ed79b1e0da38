// SPDX-License-Identifier: Apache-2.0 OR MIT

// Between what a hook sees of a model call and Gemini's generate-content form.

import type { Content, GenerateContentParameters, GenerateContentResponse } from "./model.js";

/** The keys of `generationConfig`. */
const GENERATION_CONFIG = ["temperature", "maxOutputTokens", "topP", "topK", "stopSequences"];
/** The keys that the program of August 2026 reads and always replaces, all of them at once. */
const REPLACED_CONFIG = ["temperature", "maxOutputTokens", "topP", "topK"];

/** What becomes of the values that a hook's partial answer leaves out. */
export interface ApplyOptions {
  /**
   * `merge`, as the reference says: what the hook does not name stays. `replace`, as the program of August 2026 does:
   * of a generation configuration the values that it leaves out are gone, a system instruction and stop sequences are
   * dropped, and a tool configuration is replaced. `merge` unless said.
   */
  partial?: "merge" | "replace";
}

type Fields = Record<string, unknown>;

/** A request that a hook gave, laid over the one there was. `messages` and `config` are the names the programs read. */
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

/** A system instruction in one form: it may be a text, a list of parts, or an object that has parts. */
function systemInstruction(given: unknown): Content {
  const parts = isFields(given) && "parts" in given ? given.parts : given;
  const texts = (Array.isArray(parts) ? parts : [parts]).map((part) => ({ text: textOf(part) }));
  return { role: "system", parts: texts };
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
