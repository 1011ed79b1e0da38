// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ClaudeHookMatcher } from "./hooks.js";

/** The longest time-out that can be meant in seconds. */
const AN_HOUR = 3600;

/** A time-out in seconds, in whichever unit it was said. */
export function seconds({ timeout, timeoutMs }: Pick<ClaudeHookMatcher, "timeout" | "timeoutMs">): number | undefined {
  if (timeoutMs !== undefined) return timeoutMs / 1000;
  return timeout !== undefined && timeout > AN_HOUR ? timeout / 1000 : timeout;
}
