# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Events from JSON and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenterhook import (
    EVENTS,
    EventContext,
    GenerateEndEvent,
    GenerateResponse,
    HookEvent,
    InvalidEventError,
    ModelConfig,
    PostToolUseEvent,
    PreCompactEvent,
    PreToolUseEvent,
    TokenUsage,
    ToolCall,
    ToolResult,
    wire,
)
from tenterhook.events import read_event

SPEC = Path(__file__).resolve().parents[3] / "docs" / "spec" / "sdk-events.md"

BASE = {"sessionId": "s1", "timestamp": 1794700000000, "metadata": {"eventId": "01K", "source": "claude-code"}}


def test_a_tool_call():
    context = {
        "workingDirectory": "/repo",
        "recentTools": ["Read"],
        "tokenUsage": {"input_tokens": 3, "total_tokens": 3},
    }
    payload = {"eventType": "PreToolUse", **BASE, "tool": "Bash", "args": {"command": "ls"}, "context": context}
    event = read_event("PreToolUse", payload)
    expected = PreToolUseEvent(
        session_id="s1",
        timestamp=1794700000000,
        metadata=BASE["metadata"],
        tool="Bash",
        args={"command": "ls"},
        context=EventContext("/repo", ["Read"], TokenUsage(input_tokens=3, total_tokens=3)),
    )
    assert event == expected
    assert event.event_type == "PreToolUse"


def test_a_generation():
    payload = b"""{"model": {"name": "m", "maxTokens": 9}, "prompt": "p", "response": {"text": "t", "duration": 7,
        "toolCalls": [{"id": "1", "name": "Bash", "args": {}}], "usage": {"total_tokens": 5}}}"""
    event = read_event("GenerateEnd", payload)
    response = GenerateResponse("t", [ToolCall("1", "Bash", {})], TokenUsage(total_tokens=5), 7)
    assert event == GenerateEndEvent(model=ModelConfig("m", max_tokens=9), prompt="p", response=response)


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_survives_a_round_trip(name):
    event = EVENTS[name](session_id="s", timestamp=1, metadata={"a": 1})
    assert read_event(name, event.payload()) == event
    assert event.payload()["eventType"] == name


def test_unset_fields_are_not_sent():
    event = PreToolUseEvent(session_id="s", tool="Bash", args={"command": "ls"})
    expected = {"eventType": "PreToolUse", "sessionId": "s", "tool": "Bash", "args": {"command": "ls"}}
    assert event.payload() == expected
    assert PreCompactEvent(trigger="auto").payload() == {"eventType": "PreCompact", "sessionId": "", "trigger": "auto"}


def test_fields_that_are_not_known_yet_are_kept():
    event = read_event(
        "PostToolUse", {"tool": "Bash", "result": {"success": False, "exitCode": 2, "more": 1}, "new": [1]}
    )
    assert isinstance(event, PostToolUseEvent)
    assert (event.result, event.raw["new"]) == (ToolResult(success=False, exit_code=2), [1])
    assert event.payload()["new"] == [1]


def test_an_event_that_is_not_known_yet_is_an_event():
    event = read_event("Tomorrow", {"sessionId": "s", "what": 1})
    assert (type(event), event.event_type, event.session_id, event.raw["what"]) == (HookEvent, "Tomorrow", "s", 1)


@pytest.mark.parametrize("payload", [b"[1", b"[]", b'"x"', b"\xff"])
def test_an_invalid_event_is_reported(payload):
    with pytest.raises(InvalidEventError, match="PreToolUse"):
        read_event("PreToolUse", payload)


@pytest.mark.parametrize("payload", [{"context": 7, "args": None}, {"context": {"tokenUsage": []}}])
def test_parts_of_another_kind_do_not_hide_the_event(payload):
    assert read_event("PreToolUse", {"tool": "Bash", **payload}).tool == "Bash"
    response = {"toolCalls": 7, "usage": [], "text": "t"}
    assert read_event("GenerateEnd", {"response": response}).response == GenerateResponse("t")


def test_the_classes_have_the_fields_of_the_specification():
    """Each row of its tables is a class, and each field of a row is a field of the class."""
    if not SPEC.exists():
        pytest.fail(f"{SPEC} is missing")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", SPEC.read_text(), re.MULTILINE)
    more = re.search(r"five more[^:]*: (.*?)\n\n", SPEC.read_text(), re.DOTALL)
    rows = [(name, fields) for name, fields in rows if name in EVENTS]
    rows += re.findall(r"`(\w+)` \{(.*?)\}", more.group(1), re.DOTALL)
    assert {name for name, _ in rows} == set(EVENTS)
    for name, fields in rows:
        told = re.sub(r"\{.*?\}|\(.*?\)", "", fields)
        expected = {field.rstrip("?") for field in re.findall(r"`(\w+\??)`", told)}
        have = {field for _, field, _ in wire._fields(EVENTS[name])} - {"sessionId", "timestamp", "metadata"}
        assert have == expected, name
