# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Handlers at work: each question is answered once, however often it is asked."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from .events import read_event
from .hooks import Hook
from .response import HookResponse
from .v1 import hooks_pb2 as pb

log = logging.getLogger("tenterhook")

Question = tuple[str, int]
"""The event's id and the call's. Another daemon may use the same numbers, but not for the same event."""

_KEPT = 1024
"""So many answers are kept, in case they were lost on the way."""
_LARGEST = 15 * 1024 * 1024
"""The daemon closes a stream that brings a message over 16 MiB."""
_ACTIONS = {"continue": pb.CONTINUE, "block": pb.BLOCK, "retry": pb.RETRY, "skip": pb.SKIP}


class Calls:
    """The handlers that run now, and what the latest ones answered."""

    def __init__(self, send: Callable[[pb.HookResponse], Awaitable[None]]) -> None:
        self._send = send
        self._running: dict[Question, asyncio.Task[None]] = {}
        self._given_up: set[Question] = set()
        self._awaited: set[Question] = set()
        self._answered: OrderedDict[Question, pb.HookResponse] = OrderedDict()

    def begin(self) -> None:
        """A new stream, perhaps of another daemon. Answers to what was asked on the one before wait until they are
        asked for again: to another daemon they would be answers to something else."""
        self._awaited.clear()

    def ask(self, hook: Hook | None, asked: pb.HookEvent) -> None:
        """Runs the handler; or, if the question came before, sees to it that its answer is sent."""
        question = (asked.event_id, asked.call_id)
        self._awaited.add(question)
        if question in self._running:
            return
        if answer := self._answered.get(question):
            self._start(question, self._send(answer))
        elif hook is None and not _is_observer(asked):
            self._start(question, self._send(_failed(asked, "this client has no such hook any more")))
        elif hook is not None:
            self._start(question, self._answer(hook, asked), asked.timeout_ms)

    def cancel(self, asked: pb.HookEvent) -> None:
        """Nobody waits any more."""
        self._give_up((asked.event_id, asked.call_id))

    async def stop(self) -> None:
        """Cancels all that runs."""
        running = dict(self._running)
        for question in running:
            self._give_up(question)
        await asyncio.gather(*running.values(), return_exceptions=True)

    def _give_up(self, question: Question) -> None:
        if task := self._running.get(question):
            self._given_up.add(question)
            task.cancel()

    def _start(self, question: Question, work: Awaitable[None], timeout_ms: int = 0) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work, loop=loop)
        self._running[question] = task
        timer = loop.call_later(timeout_ms / 1000, self._give_up, question) if timeout_ms else None

        def done(task: asyncio.Task[None]) -> None:
            del self._running[question]
            self._given_up.discard(question)
            self._awaited.discard(question)
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
        if len(self._answered) > _KEPT:
            self._answered.popitem(last=False)
        if question in self._awaited:
            await self._send(answer)


def _is_observer(asked: pb.HookEvent) -> bool:
    """Whether the hook is `async`: nobody waits for what it says."""
    return not asked.timeout_ms and not asked.deadline


def _cancelled_from_outside() -> bool:
    """Whether the loop itself is ending. Python 3.10 cannot tell."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() > 0


async def _run(hook: Hook, asked: pb.HookEvent) -> pb.HookResponse:
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
        raise TypeError(f"a hook answers with a HookResponse, not {said!r}")
    answer.action = _ACTIONS[said.action]
    if said.reason is not None:
        answer.reason = said.reason
    if said.changes is not None:
        answer.modified = json.dumps(said.changes, allow_nan=False).encode()
        if len(answer.modified) > _LARGEST:
            raise ValueError(f"what was modified has {len(answer.modified)} bytes; at most {_LARGEST} can be sent")
    if said.delay_ms is not None:
        answer.retry_delay_ms = said.delay_ms
    return answer


def _failed(asked: pb.HookEvent, message: str) -> pb.HookResponse:
    answer = pb.HookResponse(hook_id=asked.hook_id, event_id=asked.event_id, call_id=asked.call_id)
    answer.error.code, answer.error.message = pb.ERROR_HANDLER, message
    return answer
