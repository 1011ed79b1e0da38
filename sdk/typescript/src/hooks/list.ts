// SPDX-License-Identifier: Apache-2.0 OR MIT

import { FailBehavior, type HookInfo } from "../generated/tenterhook/v1/hooks.js";
import type { HookConfig, HookMatcher } from "./types.js";

/** An active hook of the daemon. */
export interface ListedHook {
  id: string;
  /** The registered event type. For a hook from a configuration file: Tenterhook's event kinds, separated by commas. */
  event: string;
  matcher: HookMatcher;
  /** Options of the hook, including defaults. */
  config: HookConfig;
  /** Whether the hook belongs to this client. */
  own: boolean;
  /** Name of the client; empty for a hook from a configuration file. */
  clientName: string;
  /** Whether the client is connected. */
  connected: boolean;
}

/** Converts a hook from the format of the daemon. */
export function toListedHook({ hookId, eventType, matcher, config, own, clientName, connected }: HookInfo): ListedHook {
  const { tool, pathPattern, commandPattern } = matcher ?? {};
  return {
    id: hookId,
    event: eventType,
    matcher: {
      ...(tool !== undefined && { tool }),
      ...(pathPattern !== undefined && { pathPattern }),
      ...(commandPattern !== undefined && { commandPattern }),
    },
    config: {
      priority: config?.priority ?? 0,
      timeout: config?.timeoutMs ?? 0,
      async: config?.async ?? false,
      failBehavior: config?.failBehavior === FailBehavior.FAIL_BLOCK ? "block" : "continue",
      linger: config?.lingerMs ?? 0,
    },
    own,
    clientName,
    connected,
  };
}
