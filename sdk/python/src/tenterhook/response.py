# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a hook answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Action = Literal["continue", "block", "retry", "skip"]
"""The four things a hook can say."""


@dataclass(frozen=True)
class HookResponse:
    """What a hook answers. Make one with `continue_`, `modified`, `block`, `retry` or `skip`."""

    action: Action
    reason: str | None = None
    changes: Mapping[str, Any] | None = field(default=None)
    """What should be different: for a tool call `{"args": {...}}`."""
    delay_ms: int | None = None

    @classmethod
    def continue_(cls) -> HookResponse:
        """Go on."""
        return _CONTINUE

    @classmethod
    def modified(cls, changes: Mapping[str, Any] | None = None, /, **parts: Any) -> HookResponse:
        """Go on with something changed: `HookResponse.modified(args={**event.args, "timeout": 30000})`.

        What can be changed depends on the event; the daemon refuses what does not fit, and then the
        hook has failed.
        """
        together = {**(changes or {}), **parts}
        if not together:
            raise ValueError("nothing is modified: say what, as in HookResponse.modified(args={...})")
        return cls("continue", changes=together)

    @classmethod
    def block(cls, reason: str) -> HookResponse:
        """Stop it; the agent is told the reason."""
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError("a block needs a reason: the agent is told it")
        return cls("block", reason=reason)

    @classmethod
    def retry(cls, delay_ms: int | None = None, *, reason: str | None = None) -> HookResponse:
        """Ask again after a while; how often is limited, and then it is blocked. Without a delay the
        daemon waits a second."""
        if delay_ms is not None and (isinstance(delay_ms, bool) or delay_ms < 0):
            raise ValueError(f"a delay is a number of milliseconds, not {delay_ms!r}")
        return cls("retry", reason=reason, delay_ms=delay_ms)

    @classmethod
    def skip(cls, reason: str | None = None) -> HookResponse:
        """Go on and leave out the later hooks of this event. Rules are never left out."""
        return cls("skip", reason=reason)


_CONTINUE = HookResponse("continue")
