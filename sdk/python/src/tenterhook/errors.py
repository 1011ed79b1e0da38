# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Errors of this package, each with a hint."""

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
"""Kind of a refusal."""


class TenterhookError(Exception):
    """Base class of this package's errors; `hint` says what to do."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message} ({hint})")
        self.message = message
        self.hint = hint


class NotConnectedError(TenterhookError):
    """The daemon cannot be reached."""


class RefusedError(TenterhookError):
    """The daemon refused the request; `code` is the kind of the refusal."""

    def __init__(self, message: str, *, code: ErrorCode, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code: ErrorCode = code


class InvalidHookError(TenterhookError, ValueError):
    """The options of a hook are invalid."""


class InvalidEventError(TenterhookError, ValueError):
    """An event does not have the format of its type."""
