# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Something that was begun and need not be waited for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
log = logging.getLogger("tenterhook")


class Pending(Awaitable[T], Generic[T]):
    """Begun already, if an event loop runs; else it begins when it, or the client's `ready()`, is awaited.
    Awaiting it tells how it ended; if nobody does, a failure is logged."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self.heard = False
        """Whether somebody waits, or has waited, for how it ends."""
        self._task: asyncio.Task[T] | None = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._task = loop.create_task(begin())
        self._task.add_done_callback(self._report)

    @property
    def task(self) -> asyncio.Task[T] | None:
        """What runs, if it has begun."""
        return self._task

    def __await__(self) -> Generator[Any, None, T]:
        self.heard = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._begin())
        return self._task.__await__()

    def _report(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) and not self.heard:
            log.error("%s", error)
