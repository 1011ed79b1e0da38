# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What hooks are told: one class per event. `docs/spec/sdk-events.md` has the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from . import wire
from .errors import InvalidEventError
from .shapes import EventContext, GenerateResponse, ModelConfig, TokenUsage, ToolArgs, ToolResult

_LEFT_TO_THE_DAEMON: dict[str, Any] = {"timestamp": 0, "metadata": {}, "context": wire.write(EventContext())}


@dataclass(frozen=True, kw_only=True)
class HookEvent:
    """What every event has. Events of a type that this version does not know are plain ones of this class."""

    NAME: ClassVar[str] = ""

    event_type: str = field(default="", metadata=wire.LOCAL)
    session_id: str = ""
    """The agent's id of the conversation."""
    timestamp: int = 0
    """Milliseconds since 1970. In an event that you fire, 0 leaves it to the daemon."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """`eventId`, `source`, `nativeEvent`, and where known `toolUseId`, `turnId`, `project`, `agentId`, ..."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False, metadata=wire.LOCAL)
    """The event as it came, with fields that this version does not know."""

    def __post_init__(self) -> None:
        if not self.event_type:
            object.__setattr__(self, "event_type", self.NAME)

    def payload(self) -> dict[str, Any]:
        """The event as JSON. What the daemon knows itself and nobody has said is left to it."""
        payload = {**self.raw, **wire.write(self), "eventType": self.event_type}
        for name, unsaid in _LEFT_TO_THE_DAEMON.items():
            if payload.get(name) == unsaid:
                del payload[name]
        return payload


@dataclass(frozen=True, kw_only=True)
class SessionStartEvent(HookEvent):
    """A session begins."""

    NAME = "SessionStart"
    source: str = ""
    """`startup`, `resume`, `clear`, `compact`, ..."""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))
    model: ModelConfig | None = field(default=None, metadata=wire.of(ModelConfig))


@dataclass(frozen=True, kw_only=True)
class SessionEndEvent(HookEvent):
    """A session is over."""

    NAME = "SessionEnd"
    reason: str = ""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))


@dataclass(frozen=True, kw_only=True)
class GenerateStartEvent(HookEvent):
    """The model is about to be asked."""

    NAME = "GenerateStart"
    prompt: str = ""
    system_prompt: str | None = None
    model: ModelConfig = field(default_factory=ModelConfig, metadata=wire.of(ModelConfig))
    tools: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class GenerateEndEvent(HookEvent):
    """The model has answered."""

    NAME = "GenerateEnd"
    prompt: str = ""
    model: ModelConfig = field(default_factory=ModelConfig, metadata=wire.of(ModelConfig))
    response: GenerateResponse = field(default_factory=GenerateResponse, metadata=wire.of(GenerateResponse))


@dataclass(frozen=True, kw_only=True)
class ToolEvent(HookEvent):
    """What all events about a tool call have."""

    tool: str = ""
    """As the agent names it: `Bash`, `Write`, `Edit`, ..."""
    args: ToolArgs = field(default_factory=dict)
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))


@dataclass(frozen=True, kw_only=True)
class PreToolUseEvent(ToolEvent):
    """A tool is about to run."""

    NAME = "PreToolUse"


@dataclass(frozen=True, kw_only=True)
class PostToolUseEvent(ToolEvent):
    """A tool has run."""

    NAME = "PostToolUse"
    result: ToolResult = field(default_factory=ToolResult, metadata=wire.of(ToolResult))


@dataclass(frozen=True, kw_only=True)
class ToolErrorEvent(ToolEvent):
    """A tool has failed."""

    NAME = "ToolError"
    error: str = ""
    attempt: int = 1
    duration: int | None = None
    """Milliseconds."""


@dataclass(frozen=True, kw_only=True)
class PermissionRequestEvent(ToolEvent):
    """The agent asks whether a tool may run."""

    NAME = "PermissionRequest"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionGrantedEvent(ToolEvent):
    """A tool may run."""

    NAME = "PermissionGranted"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionDeniedEvent(ToolEvent):
    """A tool may not run."""

    NAME = "PermissionDenied"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PreCompactEvent(HookEvent):
    """The context is about to be compacted."""

    NAME = "PreCompact"
    trigger: str = ""
    """`auto`, `manual`, ..."""
    custom_instructions: str | None = None
    usage: TokenUsage | None = field(default=None, metadata=wire.of(TokenUsage))


@dataclass(frozen=True, kw_only=True)
class PostCompactEvent(HookEvent):
    """The context was compacted."""

    NAME = "PostCompact"
    trigger: str = ""
    summary: str | None = None
    usage: TokenUsage | None = field(default=None, metadata=wire.of(TokenUsage))


@dataclass(frozen=True, kw_only=True)
class ContextWarningEvent(HookEvent):
    """The context is nearly full."""

    NAME = "ContextWarning"
    usage: TokenUsage = field(default_factory=TokenUsage, metadata=wire.of(TokenUsage))
    max_tokens: int | None = None
    threshold: float | None = None
    """From 0 to 1."""
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class UserPromptSubmitEvent(HookEvent):
    """A person asks something."""

    NAME = "UserPromptSubmit"
    prompt: str = ""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))


@dataclass(frozen=True, kw_only=True)
class StopEvent(HookEvent):
    """The agent has finished its turn. To block means: not finished yet."""

    NAME = "Stop"
    response: str | None = None
    stop_hook_active: bool = False
    """It already goes on because of a hook."""


@dataclass(frozen=True, kw_only=True)
class SubagentStartEvent(HookEvent):
    """Another agent begins to work for this one."""

    NAME = "SubagentStart"
    agent_id: str = ""
    agent_type: str = ""


@dataclass(frozen=True, kw_only=True)
class SubagentStopEvent(HookEvent):
    """An agent that worked for this one has finished. To block means: not finished yet."""

    NAME = "SubagentStop"
    agent_id: str = ""
    agent_type: str = ""
    response: str | None = None
    stop_hook_active: bool = False


@dataclass(frozen=True, kw_only=True)
class NotificationEvent(HookEvent):
    """The agent tells the person something."""

    NAME = "Notification"
    message: str = ""
    type: str | None = None


EVENTS: dict[str, type[HookEvent]] = {
    cls.NAME: cls
    for cls in (
        SessionStartEvent,
        SessionEndEvent,
        GenerateStartEvent,
        GenerateEndEvent,
        PreToolUseEvent,
        PostToolUseEvent,
        ToolErrorEvent,
        PermissionRequestEvent,
        PermissionGrantedEvent,
        PermissionDeniedEvent,
        PreCompactEvent,
        PostCompactEvent,
        ContextWarningEvent,
        UserPromptSubmitEvent,
        StopEvent,
        SubagentStartEvent,
        SubagentStopEvent,
        NotificationEvent,
    )
}
"""All events by name: the thirteen of the hook design, and five more that harnesses have."""


def read_event(event_type: str, payload: bytes | Mapping[str, Any]) -> HookEvent:
    """The event that a payload describes."""
    data = payload if isinstance(payload, Mapping) else _object(event_type, payload)
    cls = EVENTS.get(event_type, HookEvent)
    return wire.read(cls, data, event_type=event_type, raw=data)


def _object(event_type: str, payload: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(payload or b"{}")
    except ValueError as error:
        raise InvalidEventError(f"the payload of `{event_type}` is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise InvalidEventError(f"the payload of `{event_type}` is no JSON object")
    return data
