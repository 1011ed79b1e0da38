// SPDX-License-Identifier: Apache-2.0 OR MIT

/** Fields of every event. */
export interface BaseEvent {
  eventType: string;
  /** The session's id in the harness; may be empty. */
  sessionId: string;
  /** When the event happened, in milliseconds since 1970. */
  timestamp: number;
  metadata: EventMetadata;
}

/** Metadata of an event, including all metadata passed to `fire`. */
export interface EventMetadata {
  /** Id of the event in the ledger. */
  eventId: string;
  /** The harness or agent that sent the event, such as `claude-code`. */
  source: string;
  /** The harness's own name for the event. */
  nativeEvent?: string;
  turnId?: string;
  toolUseId?: string;
  /** Class of the tool, independent of its name: `shell`, `write`, `edit`, `todo`, … */
  toolClass?: string;
  project?: string;
  /** Id of the subagent, if there is one. */
  agentId?: string;
  agentType?: string;
  user?: string;
  [key: string]: unknown;
}

/** Context of an event in its session. */
export interface EventContext {
  workingDirectory: string;
  /** Recently used tools of the session, at most ten, the latest last. */
  recentTools: string[];
  tokenUsage: TokenUsage;
}

/** Token counts of a model call or a session. */
export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}
