# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What agents do, for whoever shows it: files that changed, lists of what is to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .events import PostToolUseEvent


@dataclass(frozen=True)
class WatchEvent:
    """Something that happened in the daemon."""

    number: int
    """Counts up from the daemon's start; a gap is something that was missed."""
    kind: str
    """`decided`, `session`, `generation`, `verify`, `warning`; `lagged` says how many were missed."""
    data: Mapping[str, Any]


@dataclass(frozen=True)
class FileChanged:
    """An agent wrote a file."""

    session_id: str
    file: str
    tool: str
    tool_use_id: str | None = None


@dataclass(frozen=True)
class Todo:
    """One thing to do."""

    content: str
    status: str
    """`pending`, `in_progress`, `completed`, or as the agent says it."""
    id: str | None = None


@dataclass(frozen=True)
class TodoUpdate:
    """What an agent has to do, all of it."""

    session_id: str
    todos: list[Todo]
    tool_use_id: str | None = None


Listener = Callable[[Any], "Awaitable[None] | None"]

_WRITERS = {"write", "edit", "patch"}
_WRITING_TOOLS = {"Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "replace", "edit", "apply_patch"}
_PATHS = ("file_path", "notebook_path", "path", "absolute_path", "filePath")


def files_changed(event: PostToolUseEvent) -> list[FileChanged]:
    """The files that a tool call wrote."""
    kind = event.metadata.get("toolClass")
    if not event.result.success or not (kind in _WRITERS or (kind is None and event.tool in _WRITING_TOOLS)):
        return []
    paths = (event.args.get(name) for name in _PATHS)
    path = next((path for path in paths if isinstance(path, str) and path), None)
    return [FileChanged(event.session_id, path, event.tool, _tool_use(event))] if path else []


class Todos:
    """The lists of all sessions. Most agents send the whole list each time; Claude Code's tasks are made and
    changed one by one."""

    _MOST = 1000

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, Todo]] = {}

    def update(self, event: PostToolUseEvent) -> TodoUpdate | None:
        """The list after a tool call, if the call was about it."""
        whole = next((event.args[key] for key in ("todos", "plan") if isinstance(event.args.get(key), list)), None)
        if whole is not None:
            items = {str(number): _todo(item) for number, item in enumerate(whole) if isinstance(item, Mapping)}
        elif event.tool in ("TaskCreate", "TaskUpdate"):
            items = self._changed(event)
        else:
            return None
        self._lists.pop(event.session_id, None)
        self._lists[event.session_id] = items
        if len(self._lists) > self._MOST:
            del self._lists[next(iter(self._lists))]
        return TodoUpdate(event.session_id, list(items.values()), _tool_use(event))

    def _changed(self, event: PostToolUseEvent) -> dict[str, Todo]:
        items, args = dict(self._lists.get(event.session_id, {})), event.args
        known = next((str(args[key]) for key in ("taskId", "task_id", "id") if args.get(key)), None)
        if event.tool == "TaskCreate":
            # The id is in the answer only; tasks are numbered as they are made.
            number = known or str(len(items) + 1)
            items[number] = _todo({**args, "id": number})
        elif known in items and args.get("status") == "deleted":
            del items[known]
        elif known in items:
            before = items[known]
            after = _todo({"content": before.content, "status": before.status, **args, "id": known})
            items[known] = after
        return items


def _todo(item: Mapping[str, Any]) -> Todo:
    text = next((item[key] for key in ("content", "subject", "text", "step", "description") if item.get(key)), "")
    known = item.get("id")
    return Todo(str(text), str(item.get("status") or "pending"), None if known is None else str(known))


def _tool_use(event: PostToolUseEvent) -> str | None:
    known = event.metadata.get("toolUseId")
    return known if isinstance(known, str) else None
