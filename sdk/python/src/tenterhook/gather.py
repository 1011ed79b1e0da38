# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The answers of a program's own callbacks, until Tenterhook's entry for the same call takes them along."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .v1 import hooks_pb2 as pb

_COLLECT_GRACE = 0.25
"""Seconds that an answer waits for Tenterhook's own entry of the same call. The client calls them together."""


@dataclass(frozen=True)
class CallbackAnswer:
    """The answer of a hook that ran in this program, for `TenterhookClient.fire_native`."""

    name: str
    """The name in records: 1 to 64 letters, digits, `_`, `.` and `-`."""
    output: Mapping[str, Any] | None = None
    """The answer, as a hook of the harness gives it."""
    error: str | None = None
    """Why the hook failed, if it did."""
    timed_out: bool = False
    block: bool = False
    """Whether a failure refuses."""
    duration: float = 0.0
    """In seconds."""


@dataclass(eq=False)
class _PendingCall:
    answers: list[asyncio.Future[CallbackAnswer]] = field(default_factory=list)
    collected: asyncio.Event = field(default_factory=asyncio.Event)


class AnswerGatherer:
    """Where callbacks and Tenterhook's entry meet: one call is one record, and only the client knows which callbacks a
    matcher selects."""

    def __init__(self) -> None:
        self._pending: dict[str, _PendingCall] = {}

    def announce(self, key: str) -> Announced:
        """A callback has been called."""
        call = self._pending.setdefault(key, _PendingCall())
        answer: asyncio.Future[CallbackAnswer] = asyncio.get_running_loop().create_future()
        call.answers.append(answer)
        return Announced(self, key, call, answer)

    async def collect(self, key: str) -> list[CallbackAnswer]:
        """The answers of every callback that has been announced for a call."""
        call = self._pending.pop(key, None)
        if call is None:
            return []
        call.collected.set()
        return list(await asyncio.gather(*call.answers))

    def forget(self, key: str, call: object) -> None:
        """No longer offers the answers to this call."""
        if self._pending.get(key) is call:
            del self._pending[key]


@dataclass(frozen=True)
class Announced:
    """A callback that runs."""

    _gatherer: AnswerGatherer
    _key: str
    _call: _PendingCall
    _answer: asyncio.Future[CallbackAnswer]

    def give(self, answer: CallbackAnswer) -> None:
        """Its answer is known."""
        if not self._answer.done():
            self._answer.set_result(answer)

    def expire(self) -> None:
        """The callback does not wait: what is not collected soon is forgotten."""
        asyncio.get_running_loop().call_later(_COLLECT_GRACE, self._gatherer.forget, self._key, self._call)

    async def was_collected(self) -> bool:
        """Whether Tenterhook's entry takes the answer along."""
        try:
            await asyncio.wait_for(self._call.collected.wait(), _COLLECT_GRACE)
        except asyncio.TimeoutError:
            self._gatherer.forget(self._key, self._call)
            return False
        return True


def call_key(given: Mapping[str, Any], tool_use_id: str | None) -> str:
    """Equal for all callbacks that the client calls about one thing."""
    call = given.get("tool_use_id") or tool_use_id or given
    return json.dumps([given.get("hook_event_name"), given.get("session_id"), given.get("agent_id"), call])


def callback_answer(answer: CallbackAnswer) -> pb.CallbackAnswer:
    """The answer, as it is sent."""
    sent = pb.CallbackAnswer(
        name=answer.name,
        fail_behavior=pb.FAIL_BLOCK if answer.block else pb.FAIL_CONTINUE,
        duration_us=int(answer.duration * 1_000_000),
    )
    if answer.error is not None:
        sent.error.code = pb.ERROR_TIMED_OUT if answer.timed_out else pb.ERROR_HANDLER
        sent.error.message = answer.error
    elif answer.output is not None:
        sent.output = json.dumps(answer.output).encode()
    return sent
