# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Events for hooks, one class per type. `docs/spec/sdk-events.md` describes the JSON format."""

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
    """Fields of every event. Events of an unknown type are instances of this class."""

    NAME: ClassVar[str] = ""

    event_type: str = field(default="", metadata=wire.LOCAL)
    session_id: str = ""
    """The session's id in the harness."""
    timestamp: int = 0
    """Milliseconds since 1970. In a fired event, 0 means that the daemon sets it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """`eventId`, `source`, `nativeEvent`, and if known `toolUseId`, `turnId`, `project`, `agentId`, ..."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False, metadata=wire.LOCAL)
    """The event as received, including fields that this version does not know."""

    def __post_init__(self) -> None:
        if not self.event_type:
            object.__setattr__(self, "event_type", self.NAME)

    def payload(self) -> dict[str, Any]:
        """Returns the event as JSON. Empty fields that the daemon fills in are omitted."""
        payload = {**self.raw, **wire.write(self), "eventType": self.event_type}
        for name, unsaid in _LEFT_TO_THE_DAEMON.items():
            if payload.get(name) == unsaid:
                del payload[name]
        return payload


@dataclass(frozen=True, kw_only=True)
class SessionStartEvent(HookEvent):
    """A session starts."""

    NAME = "SessionStart"
    source: str = ""
    """What started the session: `startup`, `resume`, `clear`, `compact`, ..."""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))
    model: ModelConfig | None = field(default=None, metadata=wire.of(ModelConfig))


@dataclass(frozen=True, kw_only=True)
class SessionEndEvent(HookEvent):
    """A session has ended."""

    NAME = "SessionEnd"
    reason: str = ""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))


@dataclass(frozen=True, kw_only=True)
class GenerateStartEvent(HookEvent):
    """A request is about to be sent to the model."""

    NAME = "GenerateStart"
    prompt: str = ""
    system_prompt: str | None = None
    model: ModelConfig = field(default_factory=ModelConfig, metadata=wire.of(ModelConfig))
    tools: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class GenerateEndEvent(HookEvent):
    """The model has responded."""

    NAME = "GenerateEnd"
    prompt: str = ""
    model: ModelConfig = field(default_factory=ModelConfig, metadata=wire.of(ModelConfig))
    response: GenerateResponse = field(default_factory=GenerateResponse, metadata=wire.of(GenerateResponse))


@dataclass(frozen=True, kw_only=True)
class ToolEvent(HookEvent):
    """Fields of all events about a tool call."""

    tool: str = ""
    """The harness's name for the tool: `Bash`, `Write`, `Edit`, ..."""
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
    """Run time in milliseconds."""


@dataclass(frozen=True, kw_only=True)
class PermissionRequestEvent(ToolEvent):
    """A tool call needs permission."""

    NAME = "PermissionRequest"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionGrantedEvent(ToolEvent):
    """Permission was granted."""

    NAME = "PermissionGranted"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionDeniedEvent(ToolEvent):
    """Permission was denied."""

    NAME = "PermissionDenied"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PreCompactEvent(HookEvent):
    """The context is about to be compacted."""

    NAME = "PreCompact"
    trigger: str = ""
    """What triggered the compaction: `auto`, `manual`, ..."""
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
    """Share of `max_tokens` at which the warning is sent, from 0 to 1."""
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class UserPromptSubmitEvent(HookEvent):
    """The user submits a prompt."""

    NAME = "UserPromptSubmit"
    prompt: str = ""
    context: EventContext = field(default_factory=EventContext, metadata=wire.of(EventContext))


@dataclass(frozen=True, kw_only=True)
class StopEvent(HookEvent):
    """The agent wants to finish its turn. Blocking makes it continue."""

    NAME = "Stop"
    response: str | None = None
    stop_hook_active: bool = False
    """Whether a hook has already made the agent continue."""


@dataclass(frozen=True, kw_only=True)
class SubagentStartEvent(HookEvent):
    """A subagent starts."""

    NAME = "SubagentStart"
    agent_id: str = ""
    agent_type: str = ""


@dataclass(frozen=True, kw_only=True)
class SubagentStopEvent(HookEvent):
    """A subagent wants to finish. Blocking makes it continue."""

    NAME = "SubagentStop"
    agent_id: str = ""
    agent_type: str = ""
    response: str | None = None
    stop_hook_active: bool = False


@dataclass(frozen=True, kw_only=True)
class NotificationEvent(HookEvent):
    """The agent notifies the user."""

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
"""All event types: the thirteen types of the A3S hook design, then five more that harnesses have."""


def read_event(event_type: str, payload: bytes | Mapping[str, Any]) -> HookEvent:
    """Reads an event from its payload."""
    data = payload if isinstance(payload, Mapping) else _object(event_type, payload)
    cls = EVENTS.get(event_type, HookEvent)
    return wire.read(cls, data, event_type=event_type, raw=data)


def _object(event_type: str, payload: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(payload or b"{}")
    except ValueError as error:
        raise InvalidEventError(f"the payload of `{event_type}` is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise InvalidEventError(f"the payload of `{event_type}` is not a JSON object")
    return data
