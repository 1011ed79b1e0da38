# SPDX-License-Identifier: Apache-2.0 OR MIT
"""On whose behalf code runs: what a handler asks of the daemon's agent is asked on behalf of its hook."""

from __future__ import annotations

from contextvars import ContextVar

from .v1 import agent_pb2 as pb

_handling: ContextVar[pb.Handling | None] = ContextVar("tenterhook_handling", default=None)


def begin(event_id: str, hook_id: str) -> None:
    """From here on this task handles an event."""
    _handling.set(pb.Handling(event_id=event_id, hook_id=hook_id))


def now() -> pb.Handling | None:
    """The event that is being handled, if it is."""
    return _handling.get()
