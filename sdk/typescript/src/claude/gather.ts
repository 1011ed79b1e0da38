// SPDX-License-Identifier: Apache-2.0 OR MIT

import { setTimeout as delay } from "node:timers/promises";
import type { NativeCallback } from "../fire.js";
import type { ClaudeHookInput } from "./input.js";

/** How long a callback waits until Tenterhook's entry collects its answer. The client calls both at the same time. */
const COLLECT_GRACE_MS = 250;

/** The answers to one call. */
interface PendingCall {
  answers: Promise<NativeCallback>[];
  collected: boolean;
  wasCollected: Promise<void>;
  markCollected: () => void;
}

/**
 * Collects the answers of the program's own callbacks for Tenterhook's entry in the `hooks` option, so that each call
 * has one record. Each callback announces itself when it is called, because only the client knows which callbacks a
 * matcher selects.
 */
export class AnswerGatherer {
  readonly #pending = new Map<string, PendingCall>();

  /**
   * Announces a callback that has been called. Returns a function that resolves to whether the answer was collected.
   */
  announce(key: string, answer: Promise<NativeCallback>): () => Promise<boolean> {
    let call = this.#pending.get(key);
    if (!call) {
      call = pendingCall();
      this.#pending.set(key, call);
    }
    call.answers.push(answer);
    return () => this.#collectedInTime(key, call);
  }

  /** Resolves to the answers of all announced callbacks of a call. */
  async collect(key: string): Promise<NativeCallback[]> {
    const call = this.#pending.get(key);
    if (!call) return [];
    this.#pending.delete(key);
    call.collected = true;
    call.markCollected();
    return Promise.all(call.answers);
  }

  async #collectedInTime(key: string, call: PendingCall): Promise<boolean> {
    if (!call.collected) await Promise.race([call.wasCollected, delay(COLLECT_GRACE_MS, undefined, { ref: false })]);
    if (!call.collected && this.#pending.get(key) === call) this.#pending.delete(key);
    return call.collected;
  }
}

function pendingCall(): PendingCall {
  let markCollected = () => {};
  const wasCollected = new Promise<void>((resolve) => {
    markCollected = resolve;
  });
  return { answers: [], collected: false, wasCollected, markCollected };
}

/** Returns a key that is equal for all callbacks of one call. */
export function callKey(input: ClaudeHookInput, toolUseID: string | undefined): string {
  const { hook_event_name: event, session_id: session, agent_id: agent } = input;
  const call = "tool_use_id" in input ? input.tool_use_id : toolUseID;
  return JSON.stringify(call ? [event, session, agent, call] : [event, session, agent, input]);
}
