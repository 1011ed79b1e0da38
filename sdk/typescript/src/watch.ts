// SPDX-License-Identifier: Apache-2.0 OR MIT

import type { ServiceError } from "@grpc/grpc-js";
import type { Channel } from "./connection/channel.js";
import { fromStatus } from "./errors.js";
import type { WatchEvent } from "./generated/tenterhook/v1/hooks.js";

/** Options of `watch()`. */
export interface WatchOptions {
  /** `decided`, `session`, `generation`, `verify`, `warning`; defaults to all kinds. */
  kinds?: string[];
  /** Only events of this session. */
  sessionId?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
}

/** An event of the daemon. */
export interface News {
  /** Number of the event, counted from the start of the daemon. A gap means that events were missed. */
  number: number;
  /** One of the kinds in `WatchOptions`, or `lagged` with the number of missed events. */
  kind: string;
  /** Data in the format of the HTTP API's `/v1/stream`. */
  data: Record<string, unknown>;
}

/** Streams the events of the daemon from now on, for all agents, until the signal fires or the daemon stops. */
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
