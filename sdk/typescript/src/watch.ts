// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ServiceError } from "@grpc/grpc-js";
import type { Channel } from "./connection/channel.js";
import { fromStatus } from "./errors.js";
import type { WatchEvent } from "./generated/tenterhook/v1/hooks.js";

/** What to watch. */
export interface WatchOptions {
  /** `decided`, `session`, `generation`, `verify`, `warning`; all unless said. */
  kinds?: string[];
  /** Only of this session. */
  sessionId?: string;
  /** Ends the watching. */
  signal?: AbortSignal;
}

/** Something that happened. */
export interface News {
  /** Counts up from the daemon's start; a gap is something that was missed. */
  number: number;
  /** As in `WatchOptions`; `lagged` says how many were missed. */
  kind: string;
  /** As the HTTP API's `/v1/stream` has it. */
  data: Record<string, unknown>;
}

/** What happens in the daemon from now on, whichever agent it is. Ends with the signal or the daemon. */
export async function* watch(channel: Channel, options: WatchOptions): AsyncGenerator<News, void, undefined> {
  const { kinds = [], sessionId = "", signal } = options;
  if (signal?.aborted) return;
  const call = channel.hooks.watch({ kinds, sessionId }, channel.metadata);
  const abort = () => call.cancel();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of call as AsyncIterable<WatchEvent>) {
      yield { number: event.number, kind: event.kind, data: JSON.parse(event.data.toString()) };
    }
  } catch (error) {
    if (!signal?.aborted) throw fromStatus(error as ServiceError);
  } finally {
    signal?.removeEventListener("abort", abort);
    call.cancel();
  }
}
