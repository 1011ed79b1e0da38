// SPDX-License-Identifier: Apache-2.0 OR MIT

// A scripted daemon: it breaks connections, repeats calls and loses hooks, which a real one rarely does on demand.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import {
  ErrorCode,
  type HookError,
  HookEvent,
  HookEventKind,
  type HookResponse,
  HookServiceService,
  type RegisterHookRequest,
  type UnregisterHookRequest,
} from "../../src/generated/tenterhook/v1/hooks.js";

export type Stream = ServerDuplexStream<HookResponse, HookEvent>;

const EMPTY: HookEvent = HookEvent.decode(new Uint8Array());

/** A daemon that the test controls. */
export class Peer {
  readonly dir = mkdtempSync(join(tmpdir(), "tenterhook-peer-"));
  readonly address = `unix:${join(this.dir, "peer.sock")}`;
  /** Registrations in order, including repeated ones. */
  readonly registered: RegisterHookRequest[] = [];
  readonly unregistered: string[] = [];
  readonly responses: HookResponse[] = [];
  /** The hooks that it claims to have. */
  readonly hooks = new Set<string>();
  /** Error for the next registrations. */
  refusals: HookError[] = [];
  /** Error for new streams. */
  refuse: status | undefined;
  streams = 0;
  stream: Stream | undefined;
  #server: Server | undefined;
  #waiting: { done: () => boolean; resolve: () => void }[] = [];
  #call = 0;

  async start(): Promise<void> {
    const server = new Server();
    server.addService(HookServiceService, {
      registerHook: ({ request }: ServerUnaryCall<RegisterHookRequest, unknown>, callback: sendUnaryData<unknown>) => {
        const error = this.refusals.shift();
        if (!error) {
          this.registered.push(request);
          this.hooks.add(request.hookId ?? "");
        }
        callback(null, { hookId: request.hookId, replaced: false, error });
        this.#check();
      },
      unregisterHook: (
        { request }: ServerUnaryCall<UnregisterHookRequest, unknown>,
        callback: sendUnaryData<unknown>,
      ) => {
        this.unregistered.push(request.hookId);
        const error = this.hooks.delete(request.hookId) ? undefined : missing();
        callback(null, { error });
        this.#check();
      },
      hookStream: (stream: Stream) => this.#open(stream),
    });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(this.address, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    this.#server = server;
  }

  /** Ends as if killed. Also drops its memory if it should return as another process. */
  stop({ forget = false } = {}): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    this.stream = undefined;
    if (forget) this.hooks.clear();
  }

  end(): void {
    this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Breaks the connection of the stream only. */
  breakStream(): void {
    this.stream?.emit("error", { code: status.UNAVAILABLE, details: "broken on purpose" });
    this.stream = undefined;
  }

  /** Calls a hook; returns the call, so that it can be repeated. */
  ask(hookId: string, payload: unknown, more: Partial<HookEvent> = {}): HookEvent {
    this.#call += 1;
    const question = {
      ...EMPTY,
      hookId,
      eventType: "PreToolUse",
      eventId: `event-${this.#call}`,
      callId: this.#call,
      attempt: 1,
      timeoutMs: 5000,
      payload: Buffer.from(JSON.stringify(payload)),
      ...more,
    };
    this.stream?.write(question);
    return question;
  }

  cancel(question: HookEvent, code = ErrorCode.ERROR_CANCELLED): void {
    const error = { code, message: "not needed any more", hint: "" };
    this.stream?.write({ ...question, kind: HookEventKind.HOOK_CANCEL, error });
  }

  /** Waits until a condition holds. */
  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ done, resolve }));
  }

  /** Waits for the answer to a call. */
  async answer({ callId }: HookEvent): Promise<HookResponse> {
    const find = () => this.responses.find((response) => response.callId === callId);
    await this.until(() => find() !== undefined);
    return find() as HookResponse;
  }

  #open(stream: Stream): void {
    this.streams += 1;
    if (this.refuse !== undefined) {
      stream.emit("error", { code: this.refuse, details: "refused on purpose" });
      this.#check();
      return;
    }
    this.stream = stream;
    stream.on("data", (response: HookResponse) => {
      this.responses.push(response);
      this.#check();
    });
    stream.on("error", () => {});
    stream.on("end", () => stream.end());
    const hello = { version: "test", hookIds: [...this.hooks], missed: 0 };
    stream.write({ ...EMPTY, kind: HookEventKind.HOOK_HELLO, hello });
    this.#check();
  }

  #check(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ done }) => !done());
    for (const { resolve } of waiting.filter((waits) => !this.#waiting.includes(waits))) resolve();
  }
}

function missing(): HookError {
  return { code: ErrorCode.ERROR_NOT_FOUND, message: "no such hook", hint: "" };
}
