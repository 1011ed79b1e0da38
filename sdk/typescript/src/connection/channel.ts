// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type CallOptions, type ClientUnaryCall, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { fromData, fromStatus, TenterhookError } from "../errors.js";
import { AgentServiceClient } from "../generated/tenterhook/v1/agent.js";
import { type HookError, HookServiceClient } from "../generated/tenterhook/v1/hooks.js";
import type { Endpoint } from "./endpoint.js";

/** Identity of a client. */
export interface Identity {
  /** Secret client id that owns the hooks. */
  id: string;
  /** Name shown to users. */
  name: string;
}

/** Options of a single call. */
export interface CallSettings {
  /** Cancels the call, here and in the daemon. */
  signal?: AbortSignal | undefined;
  /** Time limit in milliseconds. */
  timeout?: number | undefined;
}

/**
 * Maximum size of a message: a payload of 32 MiB, and 1 MiB for the other fields. The daemon reports the error of a
 * payload that is too large.
 */
const MAX_MESSAGE_BYTES = 33 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  // The daemon is local: it answers within milliseconds or not at all.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1000,
  // Each client of a process has its own connection, so that the load of one does not affect another.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
};

type ResponseWithError = { error?: HookError | undefined };
type Callback<Response> = (error: ServiceError | null, response: Response) => void;
type Method<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: CallOptions,
  callback: Callback<Response>,
) => ClientUnaryCall;

/** One connection to the daemon. */
export class Channel {
  readonly hooks: HookServiceClient;
  readonly agent: AgentServiceClient;
  /** Metadata of every call. */
  readonly metadata = new Metadata();

  constructor(endpoint: Endpoint, identity: Identity) {
    this.hooks = new HookServiceClient(endpoint.target, credentials.createInsecure(), CHANNEL_OPTIONS);
    this.agent = new AgentServiceClient(endpoint.target, credentials.createInsecure(), {
      channelOverride: this.hooks.getChannel(),
    });
    this.metadata.set("tenterhook-client-id", identity.id);
    this.metadata.set("tenterhook-client-name", identity.name);
    if (endpoint.token) this.metadata.set("authorization", `Bearer ${endpoint.token}`);
  }

  /** Makes one call and resolves to the response. Rejects with a gRPC error or the error in the response. */
  call<Request, Response extends ResponseWithError>(
    client: HookServiceClient | AgentServiceClient,
    method: Method<Request, Response>,
    request: Request,
    { signal, timeout }: CallSettings = {},
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new TenterhookError("cancelled", "the call was cancelled before it started"));
        return;
      }
      const abort = () => call.cancel();
      const settings: CallOptions = timeout === undefined ? {} : { deadline: Date.now() + timeout };
      const call = method.call(client, request, this.metadata, settings, (error, response) => {
        signal?.removeEventListener("abort", abort);
        if (error) reject(fromStatus(error));
        else if (response.error) reject(fromData(response.error));
        else resolve(response);
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  close(): void {
    this.hooks.close();
  }
}
