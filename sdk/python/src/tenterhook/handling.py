# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The event that the current code handles. Requests that a handler sends to the daemon's agent name the handler's hook,
so that this hook is not called for them."""

from __future__ import annotations

from contextvars import ContextVar

from .v1 import agent_pb2 as pb

_handling: ContextVar[pb.Handling | None] = ContextVar("tenterhook_handling", default=None)


def begin(event_id: str, hook_id: str) -> None:
    """Marks that the current task handles an event."""
    _handling.set(pb.Handling(event_id=event_id, hook_id=hook_id))


def now() -> pb.Handling | None:
    """Returns the handled event, if there is one."""
    return _handling.get()
