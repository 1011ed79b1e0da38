// SPDX-License-Identifier: Apache-2.0 OR MIT

import { AsyncLocalStorage } from "node:async_hooks";

/** The event that is being handled, and the hook that handles it. */
export interface Handling {
  eventId: string;
  hookId: string;
}

const storage = new AsyncLocalStorage<Handling>();

/** Runs a handler so that whatever it sets off knows on whose behalf it is. */
export function handle<T>(handling: Handling, handler: () => T): T {
  return storage.run({ eventId: handling.eventId, hookId: handling.hookId }, handler);
}

/** On whose behalf this code runs, if it was set off by a handler. */
export function handling(): Handling | undefined {
  return storage.getStore();
}
