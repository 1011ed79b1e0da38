// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookMatcher } from "./hooks.js";

/** How long a callback may take that does not say, in seconds. */
export const DEFAULT_CALLBACK_SECONDS = 60;
/** The longest time-out that can be meant in seconds. */
const AN_HOUR = 3600;

/** A time-out in seconds, in whichever unit it was said. */
export function seconds({ timeout, timeoutMs }: Pick<ClaudeHookMatcher, "timeout" | "timeoutMs">): number | undefined {
  if (timeoutMs !== undefined) return timeoutMs / 1000;
  return timeout !== undefined && timeout > AN_HOUR ? timeout / 1000 : timeout;
}
