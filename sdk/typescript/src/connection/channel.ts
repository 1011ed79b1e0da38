// SPDX-License-Identifier: Apache-2.0 OR MIT

import { type CallOptions, type ClientUnaryCall, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { fromData, fromStatus, TenterhookError } from "../errors.js";
import { AgentServiceClient } from "../generated/tenterhook/v1/agent.js";
import { type HookError, HookServiceClient } from "../generated/tenterhook/v1/hooks.js";
import type { Endpoint } from "./endpoint.js";

/** Who this client is. */
export interface Identity {
  /** The secret that hooks belong to. */
  id: string;
  /** What people see. */
  name: string;
}

/** How a single call is made. */
export interface CallSettings {
  /** Gives up, and tells the daemon so. */
  signal?: AbortSignal | undefined;
  /** How long to wait for the answer, in milliseconds. */
  timeout?: number | undefined;
}

/** The daemon's own limit is 32 MiB; a little more leaves it to the daemon to say so. */
const LARGEST_MESSAGE = 33 * 1024 * 1024;

const SETTINGS = {
  "grpc.max_receive_message_length": LARGEST_MESSAGE,
  "grpc.max_send_message_length": LARGEST_MESSAGE,
  // The daemon is on this machine: it is there within milliseconds, or not at all.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1000,
  // Two clients of one process are two connections: one's load is not the other's.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
};

type Answered = { error?: HookError | undefined };
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
  /** What every call carries. */
  readonly metadata = new Metadata();

  constructor(endpoint: Endpoint, identity: Identity) {
    this.hooks = new HookServiceClient(endpoint.target, credentials.createInsecure(), SETTINGS);
    this.agent = new AgentServiceClient(endpoint.target, credentials.createInsecure(), {
      channelOverride: this.hooks.getChannel(),
    });
    this.metadata.set("tenterhook-client-id", identity.id);
    this.metadata.set("tenterhook-client-name", identity.name);
    if (endpoint.token) this.metadata.set("authorization", `Bearer ${endpoint.token}`);
  }

  /** Makes one call and waits for its answer; what went wrong is thrown, in whichever way it was said. */
  call<Request, Response extends Answered>(
    client: HookServiceClient | AgentServiceClient,
    method: Method<Request, Response>,
    request: Request,
    { signal, timeout }: CallSettings = {},
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new TenterhookError("cancelled", "the call was given up before it was made"));
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
