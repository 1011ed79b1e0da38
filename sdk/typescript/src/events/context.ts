// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, TokenUsage } from "./base.js";

/** The context is about to be compacted. */
export interface PreCompactEvent extends BaseEvent {
  eventType: "PreCompact";
  /** What triggered the compaction: `auto`, `manual`, … */
  trigger: string;
  /** Instructions of the user for the summary. */
  customInstructions?: string;
  usage?: TokenUsage;
}

/** The context was compacted. */
export interface PostCompactEvent extends BaseEvent {
  eventType: "PostCompact";
  trigger: string;
  /** Summary that replaces the context. */
  summary?: string;
  usage?: TokenUsage;
}

/** The context window of the model is nearly full. */
export interface ContextWarningEvent extends BaseEvent {
  eventType: "ContextWarning";
  usage: TokenUsage;
  maxTokens?: number;
  /** Share of `maxTokens` at which the warning is sent, from 0 to 1. */
  threshold?: number;
  message?: string;
}
