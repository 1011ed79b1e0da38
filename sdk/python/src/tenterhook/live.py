# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Changed files and to-do lists of agents, for programs that display them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .events import PostToolUseEvent


@dataclass(frozen=True)
class WatchEvent:
    """An event of the daemon."""

    number: int
    """Number of the event, counted from the start of the daemon. A gap means that events were missed."""
    kind: str
    """`decided`, `session`, `generation`, `verify`, `warning`, or `lagged` with the number of missed events."""
    data: Mapping[str, Any]


@dataclass(frozen=True)
class FileChanged:
    """A file that an agent has written or edited."""

    conversation_id: str
    """Id of the session."""
    file: str
    tool_name: str
    tool_use_id: str | None
    timestamp: int


@dataclass(frozen=True)
class TodoItem:
    """One item of an agent's to-do list."""

    content: str
    status: str
    """`pending`, `in_progress`, `completed`, or any other status that the agent sends."""
    active_form: str | None = None
    """Wording of the item while it is in progress, such as `Fixing the test`."""
    id: str | None = None


@dataclass(frozen=True)
class TodoUpdate:
    """The complete to-do list of an agent after a change."""

    conversation_id: str
    todos: list[TodoItem]
    tool_use_id: str | None
    timestamp: int


_WRITING = {"write", "edit", "patch"}
_WRITING_TOOLS = {
    *("Write", "Edit", "MultiEdit", "NotebookEdit"),
    *("write_file", "replace", "edit_file", "create_file", "apply_patch"),
}
_PATHS = ("file_path", "notebook_path", "path", "absolute_path", "filePath", "target_file")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_LISTS = {"TodoWrite", "todo_write", "write_todos", "update_plan"}
_KEPT_SESSIONS = 500


def changed_files(event: PostToolUseEvent) -> list[str]:
    """Returns the files that a tool call has changed. Changes by shell commands are not detected."""
    kind = event.metadata.get("toolClass")
    writes = kind in _WRITING if kind else event.tool in _WRITING_TOOLS
    if not writes or not event.result.success:
        return []
    if path := _text(event.args, *_PATHS):
        return [path]
    return _PATCHED.findall(_text(event.args, "patch", "input") or "")


class Todos:
    """To-do lists by session. Most agents send the complete list; some change one item at a time."""

    def __init__(self) -> None:
        self._lists: dict[str, list[TodoItem]] = {}

    def after(self, event: PostToolUseEvent) -> list[TodoItem] | None:
        """Returns the list after a tool call; None if the call does not change the list."""
        args = event.args
        if not event.result.success:
            return None
        if event.tool in _LISTS:
            items = args.get("todos") or args.get("plan") or []
            return self._set(event.session_id, [_item(item) for item in items if isinstance(item, Mapping)])
        before, known = self._lists.get(event.session_id, []), _text(args, "taskId", "task_id", "id")
        if event.tool == "TaskCreate":
            # Without an id in the arguments, the task's number is used: agents number tasks in the order of creation.
            made = replace(_item(args), id=known or str(len(before) + 1))
            return self._set(event.session_id, [*before, made])
        if event.tool != "TaskUpdate" or known is None:
            return None
        if args.get("status") == "deleted":
            return self._set(event.session_id, [item for item in before if item.id != known])
        return self._set(event.session_id, [_changed(item, args) if item.id == known else item for item in before])

    def _set(self, session: str, items: list[TodoItem]) -> list[TodoItem]:
        # Moves the session to the end, so that the least recently used one is removed first.
        self._lists.pop(session, None)
        self._lists[session] = items
        if len(self._lists) > _KEPT_SESSIONS:
            del self._lists[next(iter(self._lists))]
        return items


FileListener = Callable[[FileChanged], "Awaitable[None] | None"]
"""Listener for changed files."""
TodoListener = Callable[[TodoUpdate], "Awaitable[None] | None"]
"""Listener for to-do lists."""


class Observer:
    """Listeners for changed files and to-do lists. One hook serves all of them."""

    def __init__(self) -> None:
        self.files: list[FileListener] = []
        self.todos: list[TodoListener] = []
        self._lists = Todos()

    @property
    def idle(self) -> bool:
        """Whether there are no listeners."""
        return not self.files and not self.todos

    async def receive(self, event: PostToolUseEvent) -> None:
        """Handles a finished tool call."""
        use = _text(event.metadata, "toolUseId")
        for file in changed_files(event):
            await _tell(self.files, FileChanged(event.session_id, file, event.tool, use, event.timestamp))
        todos = self._lists.after(event)
        if todos is not None:
            await _tell(self.todos, TodoUpdate(event.session_id, todos, use, event.timestamp))


async def _tell(listeners: list[Any], news: Any) -> None:
    for listener in list(listeners):
        result = listener(news)
        if inspect.isawaitable(result):
            await result


def _item(fields: Mapping[str, Any]) -> TodoItem:
    return TodoItem(
        content=_text(fields, "content", "subject", "description", "step", "text") or "",
        status=_text(fields, "status") or "pending",
        active_form=_text(fields, "activeForm"),
        id=_text(fields, "id"),
    )


def _changed(item: TodoItem, fields: Mapping[str, Any]) -> TodoItem:
    new = _item(fields)
    return replace(
        item,
        content=new.content or item.content,
        status=new.status if _text(fields, "status") else item.status,
        active_form=new.active_form or item.active_form,
    )


def _text(fields: Mapping[str, Any], *keys: str) -> str | None:
    found = (fields.get(key) for key in keys)
    return next((str(value) for value in found if isinstance(value, (str, int)) and value != ""), None)
