# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Collects the answers of a program's own callbacks, so that Tenterhook's entry in the `hooks` option can send
them along."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .v1 import hooks_pb2 as pb

_COLLECT_GRACE = 0.25
"""How long a callback waits until Tenterhook's entry collects its answer, in seconds. The client calls both at the
same time."""


@dataclass(frozen=True)
class CallbackAnswer:
    """The answer of a hook that ran in this program, for `TenterhookClient.fire_native`."""

    name: str
    """Name in records: 1 to 64 letters, digits, `_`, `.` and `-`."""
    output: Mapping[str, Any] | None = None
    """The answer, in the output format of the harness."""
    error: str | None = None
    """Error of the hook, if it failed."""
    timed_out: bool = False
    block: bool = False
    """Whether a failure blocks the action."""
    duration: float = 0.0
    """Run time in seconds."""


@dataclass(eq=False)
class _PendingCall:
    answers: list[asyncio.Future[CallbackAnswer]] = field(default_factory=list)
    collected: asyncio.Event = field(default_factory=asyncio.Event)


class AnswerGatherer:
    """Matches callbacks with Tenterhook's entry for the same call, so that each call has one record. Each callback
    announces itself when it is called, because only the client knows which callbacks a matcher selects."""

    def __init__(self) -> None:
        self._pending: dict[str, _PendingCall] = {}

    def announce(self, key: str) -> Announced:
        """Announces a callback that has been called."""
        call = self._pending.setdefault(key, _PendingCall())
        answer: asyncio.Future[CallbackAnswer] = asyncio.get_running_loop().create_future()
        call.answers.append(answer)
        return Announced(self, key, call, answer)

    async def collect(self, key: str) -> list[CallbackAnswer]:
        """Returns the answers of all announced callbacks of a call."""
        call = self._pending.pop(key, None)
        if call is None:
            return []
        call.collected.set()
        return list(await asyncio.gather(*call.answers))

    def forget(self, key: str, call: object) -> None:
        """Drops the answers to this call."""
        if self._pending.get(key) is call:
            del self._pending[key]


@dataclass(frozen=True)
class Announced:
    """A running callback."""

    _gatherer: AnswerGatherer
    _key: str
    _call: _PendingCall
    _answer: asyncio.Future[CallbackAnswer]

    def give(self, answer: CallbackAnswer) -> None:
        """Sets the answer."""
        if not self._answer.done():
            self._answer.set_result(answer)

    def expire(self) -> None:
        """Drops the answer if it is not collected soon. Does not wait."""
        asyncio.get_running_loop().call_later(_COLLECT_GRACE, self._gatherer.forget, self._key, self._call)

    async def was_collected(self) -> bool:
        """Returns whether Tenterhook's entry has collected the answer."""
        try:
            await asyncio.wait_for(self._call.collected.wait(), _COLLECT_GRACE)
        except asyncio.TimeoutError:
            self._gatherer.forget(self._key, self._call)
            return False
        return True


def call_key(given: Mapping[str, Any], tool_use_id: str | None) -> str:
    """Returns a key that is equal for all callbacks of one call."""
    call = given.get("tool_use_id") or tool_use_id or given
    return json.dumps([given.get("hook_event_name"), given.get("session_id"), given.get("agent_id"), call])


def callback_answer(answer: CallbackAnswer) -> pb.CallbackAnswer:
    """Converts the answer into a message."""
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
