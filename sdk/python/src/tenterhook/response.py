# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Responses of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Action = Literal["continue", "block", "retry", "skip"]
"""The action of a response."""


@dataclass(frozen=True)
class HookResponse:
    """The response of a hook. Create one with `continue_`, `modified`, `block`, `retry` or `skip`."""

    action: Action
    reason: str | None = None
    changes: Mapping[str, Any] | None = field(default=None)
    """Changes to apply: for a tool call `{"args": {...}}`."""
    delay_ms: int | None = None

    @classmethod
    def continue_(cls) -> HookResponse:
        """Continues without a change."""
        return _CONTINUE

    @classmethod
    def modified(cls, changes: Mapping[str, Any] | None = None, /, **parts: Any) -> HookResponse:
        """Continues with changes: `HookResponse.modified(args={**event.args, "timeout": 30000})`.

        The event determines what can be changed. If the response contains any other change, the hook fails.
        """
        together = {**(changes or {}), **parts}
        if not together:
            raise ValueError("no changes given; write for example HookResponse.modified(args={...})")
        return cls("continue", changes=together)

    @classmethod
    def block(cls, reason: str) -> HookResponse:
        """Blocks the action; the agent sees the reason."""
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError("a block needs a reason, which the agent sees")
        return cls("block", reason=reason)

    @classmethod
    def retry(cls, delay_ms: int | None = None, *, reason: str | None = None) -> HookResponse:
        """Asks the daemon to call the hook again after a delay, by default one second. If the hook's third call also
        returns `retry`, the action is blocked."""
        if delay_ms is not None and (isinstance(delay_ms, bool) or delay_ms < 0):
            raise ValueError(f"the delay must be a number of milliseconds, not {delay_ms!r}")
        return cls("retry", reason=reason, delay_ms=delay_ms)

    @classmethod
    def skip(cls, reason: str | None = None) -> HookResponse:
        """Continues and skips the hooks after this one. Rules are never skipped."""
        return cls("skip", reason=reason)


_CONTINUE = HookResponse("continue")
