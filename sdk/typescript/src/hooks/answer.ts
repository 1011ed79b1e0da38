// SPDX-License-Identifier: Apache-2.0 OR MIT

import { asError } from "../errors.js";
import { ErrorCode, HookAction, type HookEvent, type HookResponse } from "../generated/tenterhook/v1/hooks.js";

const ACTIONS: Record<string, HookAction> = {
  continue: HookAction.CONTINUE,
  block: HookAction.BLOCK,
  retry: HookAction.RETRY,
  skip: HookAction.SKIP,
};

const REASON_MISSING = "blocked by a hook that gave no reason";

/** What a handler returned, as the daemon hears it. What cannot be understood is a failure that says so. */
export function answer(question: HookEvent, returned: unknown): HookResponse {
  const response = frame(question);
  // To say nothing is not to object.
  if (returned === undefined || returned === null) return response;
  if (typeof returned !== "object") {
    return failed(question, ErrorCode.ERROR_INVALID, `the hook returned ${typeof returned}, not a response`);
  }
  const { action, reason, modified, delay } = returned as Record<string, unknown>;
  const known = typeof action === "string" && Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (known === undefined) {
    const said = action === undefined ? "no `action`" : `the action \`${String(action)}\``;
    const actions = "`continue`, `block`, `retry` or `skip`";
    return failed(question, ErrorCode.ERROR_INVALID, `the hook's response has ${said}; it can be ${actions}`);
  }
  response.action = known;
  if (reason !== undefined) response.reason = String(reason);
  if (known === HookAction.BLOCK) {
    // A block is never lost because of something beside it.
    response.reason ||= REASON_MISSING;
    return response;
  }
  if (modified !== undefined && modified !== null) {
    if (known !== HookAction.CONTINUE) {
      return failed(question, ErrorCode.ERROR_INVALID, "`modified` counts only with `continue`");
    }
    response.modified = Buffer.from(JSON.stringify(modified));
  }
  if (known === HookAction.RETRY && delay !== undefined) {
    if (typeof delay !== "number" || !(delay >= 0 && delay <= 0x7fffffff)) {
      return failed(question, ErrorCode.ERROR_INVALID, `\`delay\` is ${String(delay)}; it is milliseconds`);
    }
    response.retryDelayMs = Math.round(delay);
  }
  return response;
}

/** A handler threw. */
export function threw(question: HookEvent, thrown: unknown): HookResponse {
  return failed(question, ErrorCode.ERROR_HANDLER, asError(thrown).message);
}

/** A hook that is not there is asked. */
export function unknown(question: HookEvent): HookResponse {
  return failed(question, ErrorCode.ERROR_NOT_FOUND, `this client has no hook \`${question.hookId}\``);
}

function failed(question: HookEvent, code: ErrorCode, message: string): HookResponse {
  return { ...frame(question), error: { code, message, hint: "" } };
}

function frame({ hookId, eventId, callId }: HookEvent): HookResponse {
  return { hookId, eventId, callId, action: HookAction.CONTINUE, error: undefined };
}
