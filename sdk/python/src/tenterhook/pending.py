# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Background work that does not have to be awaited."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
log = logging.getLogger("tenterhook")


class Pending(Awaitable[T], Generic[T]):
    """Background work. If an event loop runs, the work starts immediately. If not, it starts when this object or the
    client's `ready()` is awaited. Awaiting this object returns the result or raises the error. If it is not awaited,
    an error is logged."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self.heard = False
        """Whether the result was awaited."""
        self._task: asyncio.Task[T] | None = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._task = loop.create_task(begin())
        self._task.add_done_callback(self._report)

    @property
    def task(self) -> asyncio.Task[T] | None:
        """The task, if it has started."""
        return self._task

    def __await__(self) -> Generator[Any, None, T]:
        self.heard = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._begin())
        return self._task.__await__()

    def _report(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) and not self.heard:
            log.error("%s", error)
