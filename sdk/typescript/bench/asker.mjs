// SPDX-License-Identifier: Apache-2.0 OR MIT

// The calling side, a separate process like the daemon: sends a call, waits for the answer and measures the time.

import { Metadata, Server, ServerCredentials } from "@grpc/grpc-js";
import { HookEvent, HookEventKind, HookResponse, HookServiceService } from "../dist/generated/tenterhook/v1/hooks.js";
import { PAYLOAD } from "./payload.mjs";

const EMPTY = HookEvent.decode(new Uint8Array());
/** Messages are encoded in advance and replies are not decoded, so that the cost of calling is not measured. */
const raw = {
  requestStream: true,
  responseStream: true,
  requestSerialize: (bytes) => bytes,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: (bytes) => bytes,
  responseDeserialize: (bytes) => bytes,
};

/** The streams, each with its next call. */
const asked = {
  bytes: {
    question: (number) => Buffer.concat([PAYLOAD, Buffer.from(`${number}`)]),
    fits: (asked, said) => asked.equals(said),
  },
  messages: { question, fits: (asked, said) => HookEvent.decode(asked).callId === HookResponse.decode(said).callId },
  sdk: { question, fits: (asked, said) => HookEvent.decode(asked).callId === HookResponse.decode(said).callId },
};
let hookId = "";
let callId = 0;
let answered = () => {};

function question() {
  callId += 1;
  const ids = { hookId, callId, eventId: `01K${callId}`, eventType: "PreToolUse", sessionId: "bench" };
  return encode({ ...ids, payload: PAYLOAD, timeoutMs: 5000, attempt: 1 });
}

function encode(event) {
  return Buffer.from(HookEvent.encode({ ...EMPTY, ...event }).finish());
}

function opened(who) {
  return (stream) => {
    asked[who].stream = stream;
    stream.sendMetadata(new Metadata());
    stream.on("data", (bytes) => answered(bytes));
    stream.on("error", () => {});
    stream.on("end", () => stream.end());
    const hello = { version: "", hookIds: [], missed: 0 };
    if (who === "sdk") stream.write(encode({ kind: HookEventKind.HOOK_HELLO, hello }));
  };
}

const server = new Server();
const service = {
  bytes: { ...raw, path: "/bench.Echo/Bytes" },
  messages: { ...raw, path: "/bench.Echo/Messages" },
  unary: { ...raw, requestStream: false, responseStream: false, path: "/bench.Echo/Unary" },
};
server.addService(service, {
  bytes: opened("bytes"),
  messages: opened("messages"),
  unary: ({ request }, callback) => callback(null, request),
});
server.addService(
  { ...HookServiceService, hookStream: { ...HookServiceService.hookStream, ...raw } },
  {
    registerHook: ({ request }, callback) => {
      hookId = request.hookId;
      callback(null, { hookId, replaced: false });
    },
    unregisterHook: (_, callback) => callback(null, {}),
    hookStream: opened("sdk"),
  },
);

/** Makes calls one after the other and returns the time of each. */
async function inTurn({ stream, fits }, questions) {
  const samples = [];
  for (const bytes of questions) {
    const began = process.hrtime.bigint();
    const said = await new Promise((resolve) => {
      answered = resolve;
      stream.write(bytes);
    });
    samples.push(Number(process.hrtime.bigint() - began));
    if (!fits(bytes, said)) throw new Error("this answers another question");
  }
  return samples;
}

/** Makes all calls concurrently and returns the average time. */
async function atOnce({ stream }, questions) {
  const began = process.hrtime.bigint();
  let left = questions.length;
  await new Promise((resolve) => {
    answered = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (const bytes of questions) stream.write(bytes);
  });
  return [Number(process.hrtime.bigint() - began) / questions.length];
}

process.on("message", async ({ who, count, together }) => {
  const questions = Array.from({ length: count }, (_, number) => asked[who].question(number));
  process.send({ samples: await (together ? atOnce : inTurn)(asked[who], questions) });
});

server.bindAsync(process.argv[2], ServerCredentials.createInsecure(), () => process.send({ ready: true }));
