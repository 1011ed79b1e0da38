// SPDX-License-Identifier: Apache-2.0 OR MIT

import { asError } from "../errors.js";
import { ErrorCode, HookAction, type HookEvent, type HookResponse } from "../generated/tenterhook/v1/hooks.js";

const ACTIONS: Record<string, HookAction> = {
  continue: HookAction.CONTINUE,
  block: HookAction.BLOCK,
  retry: HookAction.RETRY,
  skip: HookAction.SKIP,
};

const REASON_MISSING = "blocked by a hook without a reason";

/** Converts the return value of a handler into a response. An invalid value becomes a failure. */
export function toResponse(event: HookEvent, returned: unknown): HookResponse {
  const response = emptyResponse(event);
  // If the handler returns nothing, the action continues.
  if (returned === undefined || returned === null) return response;
  if (typeof returned !== "object") {
    return failed(event, ErrorCode.ERROR_INVALID, `the hook returned ${typeof returned}, not a response`);
  }
  const { action, reason, modified, delay } = returned as Record<string, unknown>;
  const known = typeof action === "string" && Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (known === undefined) {
    const found = action === undefined ? "no `action`" : `the action \`${String(action)}\``;
    const actions = "`continue`, `block`, `retry` or `skip`";
    return failed(event, ErrorCode.ERROR_INVALID, `the hook's response has ${found}; expected ${actions}`);
  }
  response.action = known;
  if (reason !== undefined) response.reason = String(reason);
  if (known === HookAction.BLOCK) {
    // A block takes effect even if the rest of the response is invalid.
    response.reason ||= REASON_MISSING;
    return response;
  }
  if (modified !== undefined && modified !== null) {
    if (known !== HookAction.CONTINUE) {
      return failed(event, ErrorCode.ERROR_INVALID, "`modified` is only valid with `continue`");
    }
    response.modified = Buffer.from(JSON.stringify(modified));
  }
  if (known === HookAction.RETRY && delay !== undefined) {
    if (typeof delay !== "number" || !(delay >= 0 && delay <= 0x7fffffff)) {
      return failed(event, ErrorCode.ERROR_INVALID, `invalid \`delay\` ${String(delay)}; expected milliseconds`);
    }
    response.retryDelayMs = Math.round(delay);
  }
  return response;
}

/** The response for a handler that threw. */
export function handlerFailure(event: HookEvent, thrown: unknown): HookResponse {
  return failed(event, ErrorCode.ERROR_HANDLER, asError(thrown).message);
}

/** The response for an unknown hook. */
export function unknownHook(event: HookEvent): HookResponse {
  return failed(event, ErrorCode.ERROR_NOT_FOUND, `unknown hook \`${event.hookId}\``);
}

function failed(event: HookEvent, code: ErrorCode, message: string): HookResponse {
  return { ...emptyResponse(event), error: { code, message, hint: "" } };
}

function emptyResponse({ hookId, eventId, callId }: HookEvent): HookResponse {
  return { hookId, eventId, callId, action: HookAction.CONTINUE, error: undefined };
}
