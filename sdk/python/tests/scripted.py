# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A scripted server, for what a real daemon does only by accident, such as repeating a call after a broken
stream."""

from __future__ import annotations

import asyncio
import json

import grpc

from tenterhook.v1 import hooks_pb2 as pb
from tenterhook.v1 import hooks_pb2_grpc


class Scripted(hooks_pb2_grpc.HookServiceServicer):
    def __init__(self, directory):
        self.socket = str(directory / "scripted.sock")
        self.registered = {}
        self.unregistered = []
        self.answers = asyncio.Queue()
        self.streams = asyncio.Queue()
        self.identities = []
        self.remembers = True
        self._server = None

    async def start(self):
        self._server = grpc.aio.server()
        hooks_pb2_grpc.add_HookServiceServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self.socket}")
        await self._server.start()
        return self

    async def stop(self):
        await self._server.stop(0)

    async def RegisterHook(self, request, context):  # noqa: N802
        if request.event_type == "Nonsense":
            error = pb.HookError(code=pb.ERROR_INVALID, message="`Nonsense` is no event", hint="try PreToolUse")
            return pb.RegisterHookResponse(error=error)
        replaced = request.hook_id in self.registered
        self.registered[request.hook_id] = request
        return pb.RegisterHookResponse(hook_id=request.hook_id, replaced=replaced)

    async def UnregisterHook(self, request, context):  # noqa: N802
        self.unregistered.append(request.hook_id)
        self.registered.pop(request.hook_id, None)
        return pb.UnregisterHookResponse()

    async def HookStream(self, requests, context):  # noqa: N802
        self.identities.append(dict(context.invocation_metadata())["tenterhook-client-id"])
        stream = Stream(self, context)
        hello = pb.StreamHello(version="0", hook_ids=list(self.registered) if self.remembers else [])
        await stream.send(pb.HookEvent(kind=pb.HOOK_HELLO, hello=hello))
        await self.streams.put(stream)
        reading = asyncio.create_task(self._read(requests))
        status = await stream.end
        reading.cancel()
        if status is not None:
            await context.abort(*status)

    async def _read(self, requests):
        async for answer in requests:
            await self.answers.put(answer)

    async def stream(self):
        """The next stream that a client opens."""
        return await asyncio.wait_for(self.streams.get(), 10)

    async def answer(self):
        """The next answer of a client."""
        return await asyncio.wait_for(self.answers.get(), 10)

    async def silence(self, seconds=0.3):
        """Waits; returns whether no answer came."""
        await asyncio.sleep(seconds)
        return self.answers.empty()


class Stream:
    def __init__(self, server, context):
        self.server = server
        self._context = context
        self.end = asyncio.get_running_loop().create_future()

    async def send(self, message):
        await self._context.write(message)

    async def ask(self, hook_id, call_id=1, *, event_type="PreToolUse", timeout_ms=5000, redelivered=False, **payload):
        message = pb.HookEvent(
            hook_id=hook_id,
            event_type=event_type,
            event_id=f"E{call_id}",
            call_id=call_id,
            timeout_ms=timeout_ms,
            payload=json.dumps(payload).encode(),
            redelivered=redelivered,
        )
        await self.send(message)

    async def cancel(self, hook_id, call_id=1):
        await self.send(pb.HookEvent(kind=pb.HOOK_CANCEL, hook_id=hook_id, call_id=call_id))

    def close(self, *status):
        """Ends the stream, with a status if there is one."""
        self.end.set_result(status or None)
