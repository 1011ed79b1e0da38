# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What can go wrong, each with what to do next."""

from __future__ import annotations

from typing import Literal

ErrorCode = Literal[
    "invalid",
    "not-found",
    "already-exists",
    "limit",
    "refused",
    "unauthenticated",
    "replaced",
    "unimplemented",
    "timed-out",
    "cancelled",
    "overloaded",
    "blocked",
    "model",
    "internal",
]
"""Why the daemon said no, in one word."""


class TenterhookError(Exception):
    """Something went wrong; `hint` says what to do next."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message} ({hint})")
        self.message = message
        self.hint = hint


class NotConnectedError(TenterhookError):
    """No daemon answers."""


class RefusedError(TenterhookError):
    """The daemon understood and said no; `code` says why in one word."""

    def __init__(self, message: str, *, code: ErrorCode, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code: ErrorCode = code


class InvalidHookError(TenterhookError, ValueError):
    """A hook that cannot be registered as it was written."""


class InvalidEventError(TenterhookError, ValueError):
    """An event that has not the shape of its type."""
