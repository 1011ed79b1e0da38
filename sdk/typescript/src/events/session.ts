// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, EventContext } from "./base.js";
import type { ModelConfig } from "./generation.js";

/** A session starts. */
export interface SessionStartEvent extends BaseEvent {
  eventType: "SessionStart";
  /** What started the session: `startup`, `resume`, `clear`, `compact`, … */
  source: string;
  context: EventContext;
  model?: ModelConfig;
}

/** A session has ended. */
export interface SessionEndEvent extends BaseEvent {
  eventType: "SessionEnd";
  /** Why the session ended. */
  reason: string;
  context: EventContext;
}

/** The user submits a prompt. */
export interface UserPromptSubmitEvent extends BaseEvent {
  eventType: "UserPromptSubmit";
  prompt: string;
  context: EventContext;
}

/** The agent wants to finish its turn. Blocking makes it continue. */
export interface StopEvent extends BaseEvent {
  eventType: "Stop";
  /** Last message of the agent. */
  response?: string;
  /** Whether a hook has already made the agent continue. */
  stopHookActive: boolean;
}

/** A subagent starts. */
export interface SubagentStartEvent extends BaseEvent {
  eventType: "SubagentStart";
  agentId: string;
  agentType: string;
}

/** A subagent wants to finish. */
export interface SubagentStopEvent extends BaseEvent {
  eventType: "SubagentStop";
  agentId: string;
  agentType: string;
  response?: string;
  stopHookActive: boolean;
}

/** The agent notifies the user. */
export interface NotificationEvent extends BaseEvent {
  eventType: "Notification";
  message: string;
  type?: string;
}
