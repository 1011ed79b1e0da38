# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Outcomes of fired events."""

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
    """The reply in a harness's own format: output and exit code of a hook program."""

    stdout: str
    stderr: str
    exit_code: int


@dataclass(frozen=True)
class Outcome:
    """The recorded outcome of an event."""

    event_id: str
    action: Literal["continue", "block", "retry"]
    """Whether the action continues or is blocked. After a `ToolError`, `retry` means: call the tool again."""
    decision: Decision
    """The decision as in the ledger; `none` if no hook or rule decided."""
    reason: str | None = None
    modified: Mapping[str, Any] | None = None
    """Changes to apply: for a tool call `{"args": {...}}`, the new arguments."""
    context: str | None = None
    """Additional text for the model."""
    message: str | None = None
    """Message for the user."""
    retry_delay_ms: int | None = None
    """With `retry`: delay in milliseconds."""
    stop: bool = False
    """Whether the agent must stop."""
    outcome: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The complete outcome: docs/spec/outcome.schema.json."""
    reply: NativeReply | None = None
    """For an event in a harness's own format: the reply in that format."""

    @property
    def blocked(self) -> bool:
        """Whether the action is blocked."""
        return self.action == "block"


_ACTIONS: dict[int, Literal["block", "retry"]] = {1: "block", 2: "retry"}


def read_outcome(answer: pb.FireResponse) -> Outcome:
    """Reads the outcome from a response."""

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
