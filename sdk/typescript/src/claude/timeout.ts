// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookMatcher } from "./hooks.js";

/** Default time limit of a callback, in seconds. */
export const DEFAULT_CALLBACK_SECONDS = 60;
/** Largest timeout that is read as seconds. */
const MAX_TIMEOUT_SECONDS = 3600;

/** Returns the timeout in seconds. */
export function timeoutSeconds({
  timeout,
  timeoutMs,
}: Pick<ClaudeHookMatcher, "timeout" | "timeoutMs">): number | undefined {
  if (timeoutMs !== undefined) return timeoutMs / 1000;
  return timeout !== undefined && timeout > MAX_TIMEOUT_SECONDS ? timeout / 1000 : timeout;
}
