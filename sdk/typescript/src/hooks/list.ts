// SPDX-License-Identifier: Apache-2.0 OR MIT

import { FailBehavior, type HookInfo } from "../generated/tenterhook/v1/hooks.js";
import type { HookConfig, HookMatcher } from "./types.js";

/** A hook that is in force in the daemon. */
export interface ListedHook {
  id: string;
  /** As it was registered; of a hook in the settings, our kinds, separated by commas. */
  event: string;
  matcher: HookMatcher;
  /** With what the defaults filled in. */
  config: HookConfig;
  /** Whether it is this client's. */
  own: boolean;
  /** The name of its client; empty for a hook of the settings. */
  clientName: string;
  /** Whether its client is there. */
  connected: boolean;
}

/** A hook as the daemon lists it. */
export function listed({ hookId, eventType, matcher, config, own, clientName, connected }: HookInfo): ListedHook {
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
