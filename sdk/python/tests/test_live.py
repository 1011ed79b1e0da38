# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Changed files and to-do lists of tool calls."""

from __future__ import annotations

import pytest

from tenterhook import PostToolUseEvent, TodoItem, ToolResult
from tenterhook.live import Todos, changed_files


def ran(tool, args, *, success=True, **metadata):
    return PostToolUseEvent(session_id="s", tool=tool, args=args, result=ToolResult(success=success), metadata=metadata)


@pytest.mark.parametrize(
    ("event", "files"),
    [
        (ran("Write", {"file_path": "/a.py", "content": ""}), ["/a.py"]),
        (ran("NotebookEdit", {"notebook_path": "/a.ipynb"}), ["/a.ipynb"]),
        (ran("Write", {"file_path": "/a.py"}, success=False), []),
        (ran("Read", {"file_path": "/a.py"}), []),
        (ran("save", {"path": "/b"}, toolClass="write"), ["/b"]),
        (ran("Write", {"path": "/b"}, toolClass="other"), []),
        (
            ran("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n+x\n*** Add File: b c\n+y\n"}),
            ["a", "b c"],
        ),
        (ran("Write", {}), []),
    ],
)
def test_files(event, files):
    assert changed_files(event) == files


def test_a_whole_list_replaces_the_previous_one():
    todos = Todos()
    assert todos.after(ran("TodoWrite", {"todos": [{"content": "a", "status": "pending", "activeForm": "A"}]})) == [
        TodoItem("a", "pending", "A")
    ]
    assert todos.after(ran("update_plan", {"plan": [{"step": "b", "status": "completed"}]})) == [
        TodoItem("b", "completed")
    ]
    assert todos.after(ran("Bash", {"todos": [{"content": "x"}]})) is None


def test_tasks_are_created_and_changed_one_by_one():
    todos = Todos()
    todos.after(ran("TaskCreate", {"subject": "a", "description": "long"}))
    todos.after(ran("TaskCreate", {"subject": "b"}))
    assert todos.after(ran("TaskUpdate", {"taskId": "1", "status": "completed"})) == [
        TodoItem("a", "completed", id="1"),
        TodoItem("b", "pending", id="2"),
    ]
    assert todos.after(ran("TaskUpdate", {"taskId": "1", "status": "deleted"})) == [TodoItem("b", "pending", id="2")]
    assert todos.after(ran("TaskCreate", {"subject": "c"}, success=False)) is None


def test_lists_of_old_sessions_are_dropped():
    todos = Todos()
    for number in range(600):
        event = PostToolUseEvent(session_id=str(number), tool="TodoWrite", args={"todos": [{"content": "a"}]})
        todos.after(event)
    assert (len(todos._lists), "99" in todos._lists, "100" in todos._lists) == (500, False, True)
