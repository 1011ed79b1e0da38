// SPDX-License-Identifier: Apache-2.0 OR MIT

// The daemon's own agent: sessions, turns, single tools.

import { resolve } from "node:path";
import type { ServiceError } from "@grpc/grpc-js";
import type { CallSettings, Channel } from "./connection/channel.js";
import { fromData, fromStatus, TenterhookError } from "./errors.js";
import type { Generation, ModelConfig, ToolArgs, ToolCall, ToolResult } from "./events/index.js";
import type { GenerateEvent } from "./generated/tenterhook/v1/agent.js";
import { handling } from "./hooks/handling.js";

/** What a session may do without asking. Hooks and rules are asked in every mode. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "bypassPermissions" | "dontAsk";

/** Which model a session asks. The daemon has the keys. */
export interface SessionModel extends Partial<ModelConfig> {
  /** `anthropic`, `openai`, `gemini`, or `scripted`. */
  provider: string;
  /** Where it is, if not where its maker is. The daemon's keys only go where its environment says. */
  baseUrl?: string;
  /** With `scripted`: the file of its turns. */
  script?: string;
}

/** A session that is wanted. */
export interface SessionOptions {
  /** Where it works: the directory of this process unless said. */
  workingDirectory?: string;
  systemPrompt?: string;
  /** Unless said it has no model, only tools. */
  model?: SessionModel;
  /** The names of the tools it may use; all unless said. */
  tools?: string[];
  /** `default` unless said: a person is asked before anything is changed. */
  permissionMode?: PermissionMode;
}

/** How work is given. */
export interface WorkOptions {
  /** Gives up: the turn or the tool is ended. */
  signal?: AbortSignal;
  /** How long to wait in all, in milliseconds. */
  timeout?: number;
}

/** Something that happens in a turn. */
export type GenerateStep =
  /** The model said something, and hooks let it pass. */
  | { type: "text"; text: string }
  /** The model is saying something; no hook has seen it yet. */
  | { type: "draft"; text: string }
  /** The model wants a tool. */
  | { type: "toolCall"; call: ToolCall }
  /** What came of it. If it was `denied`, `output` says why. */
  | { type: "toolResult"; id: string; denied: boolean; nudge?: string; result: ToolResult }
  /** Something else, such as `{ what: "message", text }`. */
  | { type: "moment"; moment: Record<string, unknown> & { what: string } }
  /** The turn is over; the last step. */
  | { type: "done"; response: Generation };

/** Begins a session. */
export async function createSession(channel: Channel, options: SessionOptions): Promise<string> {
  const { workingDirectory = ".", systemPrompt, model, tools = [], permissionMode = "" } = options;
  const request = {
    workingDirectory: resolve(workingDirectory),
    systemPrompt,
    model: model ? json(model) : Buffer.alloc(0),
    tools,
    permissionMode,
    handling: handling(),
  };
  return (await channel.call(channel.agent, channel.agent.createSession, request)).sessionId;
}

/** Ends a session, and what is under way in it. */
export async function endSession(channel: Channel, sessionId: string, reason: string): Promise<void> {
  const request = { sessionId, reason, handling: handling() };
  await channel.call(channel.agent, channel.agent.endSession, request);
}

/** One turn, to its end. */
export async function generate(
  channel: Channel,
  sessionId: string,
  prompt: string,
  options: WorkOptions,
): Promise<Generation> {
  for await (const step of turn(channel, sessionId, prompt, false, options)) {
    if (step.type === "done") return step.response;
  }
  throw new TenterhookError("internal", "the turn ended without an answer", "is the daemon still there?");
}

/** One turn, step by step. Whoever stops reading cancels it. */
export async function* turn(
  channel: Channel,
  sessionId: string,
  prompt: string,
  drafts: boolean,
  { signal, timeout }: WorkOptions,
): AsyncGenerator<GenerateStep, void, undefined> {
  if (signal?.aborted) throw new TenterhookError("cancelled", "the turn was given up before it began");
  const settings = timeout === undefined ? {} : { deadline: Date.now() + timeout };
  const request = { sessionId, prompt, drafts, handling: handling() };
  const call = channel.agent.generate(request, channel.metadata, settings);
  const abort = () => call.cancel();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of call as AsyncIterable<GenerateEvent>) {
      const step = read(event);
      if (step) yield step;
    }
  } catch (error) {
    throw error instanceof TenterhookError ? error : fromStatus(error as ServiceError);
  } finally {
    signal?.removeEventListener("abort", abort);
    call.cancel();
  }
}

/** Runs a tool in a session. */
export async function executeTool(
  channel: Channel,
  sessionId: string,
  tool: string,
  args: ToolArgs,
  { signal, timeout }: WorkOptions,
): Promise<ToolResult> {
  const request = { sessionId, tool, args: json(args), timeoutMs: timeout ?? 0, handling: handling() };
  const settings: CallSettings = { signal };
  const { result } = await channel.call(channel.agent, channel.agent.executeTool, request, settings);
  return parse(result) as ToolResult;
}

/** A step, if it is one that this version knows. */
function read({ what }: GenerateEvent): GenerateStep | undefined {
  switch (what?.$case) {
    case "text":
      return { type: "text", text: what.text };
    case "draft":
      return { type: "draft", text: what.draft };
    case "toolCall":
      return { type: "toolCall", call: parse(what.toolCall) as ToolCall };
    case "toolResult": {
      const { id, denied = false, nudge, ...result } = parse(what.toolResult) as Told;
      return { type: "toolResult", id, denied, ...(nudge !== undefined && { nudge }), result };
    }
    case "moment":
      return { type: "moment", moment: parse(what.moment) as { what: string } };
    case "done":
      return { type: "done", response: parse(what.done) as Generation };
    case "error":
      throw fromData(what.error);
    default:
      return undefined;
  }
}

type Told = ToolResult & { id: string; denied?: boolean; nudge?: string };

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const parse = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
