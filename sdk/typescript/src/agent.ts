// SPDX-License-Identifier: Apache-2.0 OR MIT

// Sessions of the agent that runs in the daemon.

import { resolve } from "node:path";
import type { ServiceError } from "@grpc/grpc-js";
import type { CallSettings, Channel } from "./connection/channel.js";
import { fromData, fromStatus, TenterhookError } from "./errors.js";
import type { Generation, ModelConfig, ToolArgs, ToolCall, ToolResult } from "./events/index.js";
import type { GenerateEvent } from "./generated/tenterhook/v1/agent.js";
import { handling } from "./hooks/handling.js";

/** What a session may do without asking the user. Hooks and rules apply in every mode. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "bypassPermissions" | "dontAsk";

/** The model of a session. API keys are configured in the daemon. */
export interface SessionModel extends Partial<ModelConfig> {
  /** `anthropic`, `openai`, `gemini`, or `scripted`. */
  provider: string;
  /** Base URL of the model API, if not the provider's own. The daemon sends its keys only to URLs in its environment. */
  baseUrl?: string;
  /** With `scripted`: path of the file that contains the model's turns. */
  script?: string;
}

/** Options of a new session. */
export interface SessionOptions {
  /** Working directory; defaults to the directory of this process. */
  workingDirectory?: string;
  systemPrompt?: string;
  /** Without a model the session can only run tools. */
  model?: SessionModel;
  /** Names of the tools that the agent may use; defaults to all. */
  tools?: string[];
  /** Defaults to `default`: the user is asked before anything is changed. */
  permissionMode?: PermissionMode;
}

/** Options of a turn or a tool call. */
export interface WorkOptions {
  /** Cancels the turn or the tool call. */
  signal?: AbortSignal;
  /** Time limit in milliseconds. */
  timeout?: number;
}

/** One step of a turn. */
export type GenerateStep =
  /** Text of the model that hooks have checked. */
  | { type: "text"; text: string }
  /** Streamed text of the model that hooks have not checked yet. */
  | { type: "draft"; text: string }
  /** The model calls a tool. */
  | { type: "toolCall"; call: ToolCall }
  /** Result of a tool call. If the call was `denied`, `output` contains the reason. */
  | { type: "toolResult"; id: string; denied: boolean; nudge?: string; result: ToolResult }
  /** Any other event, such as `{ what: "message", text }`. */
  | { type: "moment"; moment: Record<string, unknown> & { what: string } }
  /** End of the turn; always the last step. */
  | { type: "done"; response: Generation };

/** Starts a session and returns its id. */
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

/** Ends a session and cancels its current turn. */
export async function endSession(channel: Channel, sessionId: string, reason: string): Promise<void> {
  const request = { sessionId, reason, handling: handling() };
  await channel.call(channel.agent, channel.agent.endSession, request);
}

/** Runs one turn and returns the final response. */
export async function generate(
  channel: Channel,
  sessionId: string,
  prompt: string,
  options: WorkOptions,
): Promise<Generation> {
  for await (const step of turn(channel, sessionId, prompt, false, options)) {
    if (step.type === "done") return step.response;
  }
  throw new TenterhookError("internal", "the turn ended without a response", "check that the daemon is running");
}

/** Runs one turn and yields its steps. Ending the iteration cancels the turn. */
export async function* turn(
  channel: Channel,
  sessionId: string,
  prompt: string,
  drafts: boolean,
  { signal, timeout }: WorkOptions,
): AsyncGenerator<GenerateStep, void, undefined> {
  if (signal?.aborted) throw new TenterhookError("cancelled", "the turn was cancelled before it started");
  const settings = timeout === undefined ? {} : { deadline: Date.now() + timeout };
  const request = { sessionId, prompt, drafts, handling: handling() };
  const call = channel.agent.generate(request, channel.metadata, settings);
  const abort = () => call.cancel();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of call as AsyncIterable<GenerateEvent>) {
      const step = decodeStep(event);
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

/** Decodes a step. Returns undefined for a step that this version does not know. */
function decodeStep({ what }: GenerateEvent): GenerateStep | undefined {
  switch (what?.$case) {
    case "text":
      return { type: "text", text: what.text };
    case "draft":
      return { type: "draft", text: what.draft };
    case "toolCall":
      return { type: "toolCall", call: parse(what.toolCall) as ToolCall };
    case "toolResult": {
      const { id, denied = false, nudge, ...result } = parse(what.toolResult) as ToolResultMessage;
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

type ToolResultMessage = ToolResult & { id: string; denied?: boolean; nudge?: string };

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const parse = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
