# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What becomes of an event that was fired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from .v1 import hooks_pb2 as pb

Decision = Literal["none", "allow", "defer", "ask", "deny"]


@dataclass(frozen=True)
class NativeReply:
    """What a hook process would have said to the harness."""

    stdout: str
    stderr: str
    exit_code: int


@dataclass(frozen=True)
class Outcome:
    """What was decided, and is on record."""

    event_id: str
    action: Literal["continue", "block", "retry"]
    """At `ToolError` it may be `retry`: the tool should be tried again."""
    decision: Decision
    """The same in the words of the ledger; `none`: nobody objected."""
    reason: str | None = None
    modified: Mapping[str, Any] | None = None
    """What is to be different: for a tool call `{"args": {...}}`, the arguments to run it with."""
    context: str | None = None
    """What the model should be told."""
    message: str | None = None
    """What the person should be told."""
    retry_delay_ms: int | None = None
    """With `retry`: when."""
    stop: bool = False
    """Whether the agent should stop altogether."""
    outcome: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Everything that was found, and who found it: docs/spec/outcome.schema.json."""
    reply: NativeReply | None = None
    """Of an event in a harness's own words: the answer in its own words."""

    @property
    def blocked(self) -> bool:
        """Whether it must not happen."""
        return self.action == "block"


_ACTIONS: dict[int, Literal["block", "retry"]] = {1: "block", 2: "retry"}


def read_outcome(answer: pb.FireResponse) -> Outcome:
    """The outcome in an answer."""

    def said(name: str) -> Any:
        return getattr(answer, name) if answer.HasField(name) else None

    return Outcome(
        event_id=answer.event_id,
        action=_ACTIONS.get(answer.action, "continue"),
        decision=cast("Decision", answer.decision or "none"),
        reason=said("reason"),
        modified=json.loads(answer.modified) if answer.modified else None,
        context=said("context"),
        message=said("message"),
        retry_delay_ms=said("retry_delay_ms"),
        stop=answer.stop,
        outcome=json.loads(answer.outcome) if answer.outcome else {},
        reply=_reply(answer.reply) if answer.HasField("reply") else None,
    )


def _reply(reply: pb.NativeReply) -> NativeReply:
    return NativeReply(reply.stdout.decode(errors="replace"), reply.stderr, reply.exit_code)
