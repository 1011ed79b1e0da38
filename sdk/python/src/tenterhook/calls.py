# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs handlers. Each call runs its handler once, even if the daemon sends the call again."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from . import handling
from .channel import MAX_MESSAGE_BYTES
from .events import read_event
from .hooks import Hook
from .response import HookResponse
from .v1 import hooks_pb2 as pb

log = logging.getLogger("tenterhook")

CallKey = tuple[str, int]
"""Event id and call id. After a restart the daemon may use the same call ids again, but not for the same event."""

_MAX_KEPT_RESPONSES = 1024
"""Maximum number of responses that are kept in case the daemon did not receive them."""
_STREAM_CHECK_SECONDS = 0.01
"""Interval in seconds at which the code checks whether the stream is open."""
_MAX_MODIFIED_BYTES = MAX_MESSAGE_BYTES - 1024 * 1024
"""Maximum size of a modification: sending a message that is too large breaks the stream."""
_ACTIONS = {"continue": pb.CONTINUE, "block": pb.BLOCK, "retry": pb.RETRY, "skip": pb.SKIP}


class Calls:
    """The running handlers and their latest responses."""

    def __init__(self, send: Callable[[pb.HookResponse], Awaitable[bool]]) -> None:
        self._send = send
        self._running: dict[CallKey, asyncio.Task[None]] = {}
        self._given_up: set[CallKey] = set()
        self._awaited: dict[int, CallKey] = {}
        """Unanswered calls of this stream, by call id."""
        self._answered: OrderedDict[CallKey, pb.HookResponse] = OrderedDict()

    def stream_ended(self) -> None:
        """Holds back the responses to this stream's calls until the daemon sends the calls again. The next stream may
        belong to another daemon, which may use the same call ids for other calls."""
        self._awaited.clear()

    def ask(self, hook: Hook | None, asked: pb.HookEvent) -> None:
        """Runs the handler of a call. If the call was received before, sends its earlier response instead."""
        if hook is None and _is_observer(asked):
            return
        question = (asked.event_id, asked.call_id)
        self._awaited[asked.call_id] = question
        if question in self._running:
            return
        if answer := self._answered.get(question):
            self._start(question, self._deliver(question, answer))
        elif hook is None:
            failed = _failed(asked, "the hook is no longer registered")
            self._start(question, self._deliver(question, failed))
        else:
            self._start(question, self._answer(hook, asked), asked.timeout_ms)

    def cancel(self, asked: pb.HookEvent) -> None:
        """Cancels a call. The daemon's message contains only the call id, not the event id."""
        if question := self._awaited.get(asked.call_id):
            self._give_up(question)

    async def stop(self) -> None:
        """Cancels all running handlers."""
        running = dict(self._running)
        for question in running:
            self._give_up(question)
        await asyncio.gather(*running.values(), return_exceptions=True)

    def _give_up(self, question: CallKey) -> None:
        if task := self._running.get(question):
            self._given_up.add(question)
            task.cancel()

    def _start(self, question: CallKey, work: Awaitable[None], timeout_ms: int = 0) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work, loop=loop)
        self._running[question] = task
        timer = loop.call_later(timeout_ms / 1000, self._give_up, question) if timeout_ms else None

        def done(task: asyncio.Task[None]) -> None:
            del self._running[question]
            self._given_up.discard(question)
            if self._awaited.get(question[1]) == question:
                del self._awaited[question[1]]
            if timer is not None:
                timer.cancel()
            if not task.cancelled() and (error := task.exception()):
                log.error("an answer could not be sent", exc_info=error)

        task.add_done_callback(done)

    async def _answer(self, hook: Hook, asked: pb.HookEvent) -> None:
        question = (asked.event_id, asked.call_id)
        try:
            answer = await _run(hook, asked)
        except asyncio.CancelledError:
            if question in self._given_up or _cancelled_from_outside():
                raise
            answer = _failed(asked, "the handler was cancelled from within")
        if _is_observer(asked) or question in self._given_up:
            return
        self._answered[question] = answer
        if len(self._answered) > _MAX_KEPT_RESPONSES:
            self._answered.popitem(last=False)
        await self._deliver(question, answer)

    async def _deliver(self, question: CallKey, answer: pb.HookResponse) -> None:
        """Sends a response as long as the daemon waits for it, on the call's own stream or on a later stream."""
        while self._awaited.get(question[1]) == question:
            if await self._send(answer):
                return
            await asyncio.sleep(_STREAM_CHECK_SECONDS)


def _is_observer(asked: pb.HookEvent) -> bool:
    """Returns whether the hook is `async`: the daemon does not wait for a response."""
    return not asked.timeout_ms and not asked.deadline


def _cancelled_from_outside() -> bool:
    """Returns whether the event loop is ending. On Python 3.10 this cannot be detected, and the result is false."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() > 0


async def _run(hook: Hook, asked: pb.HookEvent) -> pb.HookResponse:
    # Each call has its own task, so this context variable does not affect other calls.
    handling.begin(asked.event_id, asked.hook_id)
    try:
        said = await _call(hook.handler, read_event(asked.event_type, asked.payload))
        return _reply(asked, said)
    except Exception as error:
        log.exception("the handler of hook `%s` failed", hook.hook_id)
        return _failed(asked, f"{type(error).__name__}: {error}")


async def _call(handler: Callable[[Any], Any], event: Any) -> Any:
    if inspect.iscoroutinefunction(handler):
        return await handler(event)
    if inspect.iscoroutinefunction(getattr(handler, "__call__", None)):  # noqa: B004
        return await handler(event)
    said = await asyncio.to_thread(handler, event)
    return await said if inspect.isawaitable(said) else said


def _reply(asked: pb.HookEvent, said: Any) -> pb.HookResponse:
    answer = pb.HookResponse(hook_id=asked.hook_id, event_id=asked.event_id, call_id=asked.call_id)
    if said is None:
        return answer
    if not isinstance(said, HookResponse):
        raise TypeError(f"a hook must return a HookResponse, not {said!r}")
    answer.action = _ACTIONS[said.action]
    if said.reason is not None:
        answer.reason = said.reason
    if said.changes is not None:
        answer.modified = json.dumps(said.changes, allow_nan=False).encode()
        if len(answer.modified) > _MAX_MODIFIED_BYTES:
            raise ValueError(
                f"the modification has {len(answer.modified)} bytes; at most {_MAX_MODIFIED_BYTES} are allowed"
            )
    if said.delay_ms is not None:
        answer.retry_delay_ms = said.delay_ms
    return answer


def _failed(asked: pb.HookEvent, message: str) -> pb.HookResponse:
    answer = pb.HookResponse(hook_id=asked.hook_id, event_id=asked.event_id, call_id=asked.call_id)
    answer.error.code, answer.error.message = pb.ERROR_HANDLER, message
    return answer
