# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The connection to the daemon: one stream, its hooks and their handlers. It is opened again after it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from .calls import Calls
from .channel import Channel, Place, explained
from .errors import NotConnectedError, RefusedError, TenterhookError
from .v1 import hooks_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from .hooks import Hook

log = logging.getLogger("tenterhook")

_HELLO_TIMEOUT = 5.0
"""Time limit in seconds for the daemon's first message."""
_MIN_DELAY, _MAX_DELAY = 0.05, 5.0
"""First and longest delay between attempts, in seconds."""
_CLOSE_TIMEOUT = 2.0
"""Time limit in seconds for closing."""


class Link:
    """Keeps a stream to the daemon open until it is closed."""

    def __init__(self, place: Place, hooks: Mapping[str, Hook]) -> None:
        self._place = place
        self._hooks = hooks
        self._calls = Calls(self._send)
        self._channel: Channel | None = None
        self._stream: grpc.aio.StreamStreamCall[pb.HookResponse, pb.HookEvent] | None = None
        self._connected = asyncio.Event()
        self._writing = asyncio.Lock()
        self._registering = asyncio.Lock()
        self._background: set[asyncio.Task[None]] = set()
        self._leaving: set[asyncio.Task[Any]] = set()
        self._problem: TenterhookError | None = None
        self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="tenterhook")

    @property
    def loop_is_closed(self) -> bool:
        """Whether the event loop of this link is closed."""
        return self._keeper.get_loop().is_closed()

    async def channel(self, patience: float) -> Channel:
        """Returns the open channel; waits for the connection if necessary."""
        if self._channel is not None and self._connected.is_set():
            return self._channel
        waiting = asyncio.ensure_future(self._connected.wait())
        done, _ = await asyncio.wait({waiting, self._keeper}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if waiting in done and self._channel is not None:
            return self._channel
        raise self._problem or NotConnectedError(
            "the daemon does not answer", hint="start it with `tenterhook start`; `tenterhook status` shows its state"
        )

    async def ended(self) -> None:
        """Waits until the link is closed. Raises the error if the daemon refuses the connection."""
        await asyncio.wait({self._keeper})
        if not self._keeper.cancelled() and self._problem is not None:
            raise self._problem

    async def register(self) -> None:
        """Registers all hooks that the daemon does not have yet, in order."""
        async with self._registering:
            for hook in list(self._hooks.values()):
                if hook.state != "waiting":
                    continue
                channel = self._channel
                if channel is None or not self._connected.is_set():
                    return
                try:
                    await channel.register(hook.request())
                except RefusedError as error:
                    log.error("hook `%s` was refused: %s", hook.hook_id, error)
                    hook.settle(error)
                except NotConnectedError:
                    return
                else:
                    hook.settle(None)

    async def unregister(self, hook: Hook) -> None:
        """Unregisters a hook if the daemon has it."""
        async with self._registering:
            if hook.state != "registered" or self._channel is None or not self._connected.is_set():
                return
            with contextlib.suppress(NotConnectedError):
                await self._channel.unregister(hook.hook_id)

    def wait_before_closing(self, task: asyncio.Task[Any]) -> None:
        """Makes `close` wait until a hook is unregistered, even if the caller does not wait for it."""
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def in_background(self, work: Coroutine[None, None, None]) -> None:
        """Runs a coroutine in the background."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Tries to unregister all hooks, then disconnects."""
        with contextlib.suppress(asyncio.TimeoutError, TenterhookError):
            await asyncio.wait_for(self._farewell(), _CLOSE_TIMEOUT)
        self._keeper.cancel()
        await asyncio.gather(self._keeper, *self._background, return_exceptions=True)
        await self._calls.stop()
        await self._hang_up()

    async def _farewell(self) -> None:
        await asyncio.gather(*self._leaving, return_exceptions=True)
        for hook in list(self._hooks.values()):
            await self.unregister(hook)
        if self._stream is not None and self._connected.is_set():
            async with self._writing:
                await self._stream.done_writing()

    # === the background task ===

    async def _keep(self) -> None:
        pause = _MIN_DELAY
        while True:
            try:
                await self._open()
                pause = _MIN_DELAY
                await self._listen()
            except RefusedError as error:
                self._problem = error
                if error.code != "overloaded":
                    log.error("the connection is given up: %s", error)
                    return
            except TenterhookError as error:
                self._problem = error
                log.debug("not connected: %s", error)
            finally:
                self._connected.clear()
                self._calls.stream_ended()
            await self._hang_up(grace=_CLOSE_TIMEOUT)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = min(pause * 2, _MAX_DELAY)

    async def _open(self) -> None:
        self._channel = self._place.open()
        self._greeted(await self._greet(self._channel))

    async def _greet(self, channel: Channel) -> pb.HookEvent:
        self._stream = channel.stream()
        try:
            hello = await asyncio.wait_for(self._stream.read(), _HELLO_TIMEOUT)
        except asyncio.TimeoutError:
            raise NotConnectedError(f"the daemon at `{channel.target}` did not send its first message") from None
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error
        if not isinstance(hello, pb.HookEvent) or hello.kind != pb.HOOK_HELLO:
            raise NotConnectedError(f"the program at `{channel.target}` is not a Tenterhook daemon with hook support")
        return hello

    def _greeted(self, greeting: pb.HookEvent) -> None:
        known = set(greeting.hello.hook_ids)
        if greeting.hello.missed:
            log.warning("%d events of async hooks were missed", greeting.hello.missed)
        for hook in self._hooks.values():
            if hook.hook_id not in known:
                hook.unsettle()
        self._problem = None
        self._connected.set()
        target = self._channel.target if self._channel is not None else "?"
        log.info("connected to the daemon at %s, hooks: %s", target, ", ".join(sorted(self._hooks)) or "none")
        self.in_background(self.register())

    async def _listen(self) -> None:
        """Reads until the stream ends."""
        stream = self._stream
        if stream is None:
            return
        try:
            while isinstance(message := await stream.read(), pb.HookEvent):
                self._hear(message)
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error

    def _hear(self, message: pb.HookEvent) -> None:
        if message.kind == pb.HOOK_EVENT:
            self._calls.ask(self._hooks.get(message.hook_id), message)
        elif message.kind == pb.HOOK_CANCEL:
            self._calls.cancel(message)
        elif message.kind == pb.HOOK_REFUSED:
            log.warning("an answer could not be used: %s", message.error.message)
        elif message.kind == pb.HOOK_GOODBYE:
            log.debug("the daemon is ending")

    async def _send(self, answer: pb.HookResponse) -> bool:
        """Sends a response. Returns false if that failed. If the stream breaks, the daemon sends the call again."""
        async with self._writing:
            stream = self._stream
            if stream is None or not self._connected.is_set():
                return False
            try:
                await stream.write(answer)
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                return False
            return True

    async def _hang_up(self, grace: float | None = None) -> None:
        stream, self._stream = self._stream, None
        channel, self._channel = self._channel, None
        if stream is not None:
            stream.cancel()
        if channel is None:
            return
        if grace is None:
            await channel.close()
        else:
            self.in_background(channel.close(grace))
