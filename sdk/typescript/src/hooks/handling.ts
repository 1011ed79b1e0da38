// SPDX-License-Identifier: Apache-2.0 OR MIT

import { AsyncLocalStorage } from "node:async_hooks";

/** The event that is handled, and the hook that handles it. */
export interface Handling {
  eventId: string;
  hookId: string;
}

const storage = new AsyncLocalStorage<Handling>();

/** Runs a handler so that all code it calls can find the handled event. */
export function handle<T>(handling: Handling, handler: () => T): T {
  return storage.run({ eventId: handling.eventId, hookId: handling.hookId }, handler);
}

/** Returns the handled event, if the current code was called by a handler. */
export function handling(): Handling | undefined {
  return storage.getStore();
}
