// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, EventContext } from "./base.js";
import type { ModelConfig } from "./generation.js";

/** A session begins. */
export interface SessionStartEvent extends BaseEvent {
  eventType: "SessionStart";
  /** How it came about: `startup`, `resume`, `clear`, `compact`, … */
  source: string;
  context: EventContext;
  model?: ModelConfig;
}

/** A session is over. */
export interface SessionEndEvent extends BaseEvent {
  eventType: "SessionEnd";
  /** Why it ended. */
  reason: string;
  context: EventContext;
}

/** A person asks something. */
export interface UserPromptSubmitEvent extends BaseEvent {
  eventType: "UserPromptSubmit";
  prompt: string;
  context: EventContext;
}

/** The agent has finished its turn; to block means that it has not. */
export interface StopEvent extends BaseEvent {
  eventType: "Stop";
  /** The last thing it said. */
  response?: string;
  /** A hook has kept it going before. */
  stopHookActive: boolean;
}

/** A subagent begins. */
export interface SubagentStartEvent extends BaseEvent {
  eventType: "SubagentStart";
  agentId: string;
  agentType: string;
}

/** A subagent has finished. */
export interface SubagentStopEvent extends BaseEvent {
  eventType: "SubagentStop";
  agentId: string;
  agentType: string;
  response?: string;
  stopHookActive: boolean;
}

/** The agent tells the person something. */
export interface NotificationEvent extends BaseEvent {
  eventType: "Notification";
  message: string;
  type?: string;
}
