// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { BaseEvent, TokenUsage } from "./base.js";

/** The conversation is about to be shortened. */
export interface PreCompactEvent extends BaseEvent {
  eventType: "PreCompact";
  /** What set it off: `auto`, `manual`, … */
  trigger: string;
  /** What the person asked to keep. */
  customInstructions?: string;
  usage?: TokenUsage;
}

/** The conversation was shortened. */
export interface PostCompactEvent extends BaseEvent {
  eventType: "PostCompact";
  trigger: string;
  /** What is left of it. */
  summary?: string;
  usage?: TokenUsage;
}

/** The conversation is nearly too long for the model. */
export interface ContextWarningEvent extends BaseEvent {
  eventType: "ContextWarning";
  usage: TokenUsage;
  maxTokens?: number;
  /** From which part of `maxTokens` on it is said, 0 to 1. */
  threshold?: number;
  message?: string;
}
