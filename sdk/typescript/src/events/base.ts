// SPDX-License-Identifier: Apache-2.0 OR MIT

/** What every event has. */
export interface BaseEvent {
  eventType: string;
  /** The harness's id of the conversation; may be empty. */
  sessionId: string;
  /** When it happened, in milliseconds since 1970. */
  timestamp: number;
  metadata: EventMetadata;
}

/** What is known about an event beside what it says; and whatever `fire` brought along. */
export interface EventMetadata {
  /** The id under which the ledger has it. */
  eventId: string;
  /** The harness or agent it comes from, such as `claude-code`. */
  source: string;
  /** What the harness calls it. */
  nativeEvent?: string;
  turnId?: string;
  toolUseId?: string;
  /** What kind of tool it is, whatever its name: `shell`, `write`, `edit`, `todo`, … */
  toolClass?: string;
  project?: string;
  /** In a subagent: which one. */
  agentId?: string;
  agentType?: string;
  user?: string;
  [key: string]: unknown;
}

/** Where an event stands in its session. */
export interface EventContext {
  workingDirectory: string;
  /** The last tools of the session, at most ten, the latest last. */
  recentTools: string[];
  tokenUsage: TokenUsage;
}

/** Tokens of a model call or of a session. */
export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}
