# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Types of event fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import wire

ToolArgs = dict[str, Any]
"""The arguments of a tool: `command`, `file_path`, `content`, ..."""


@dataclass(frozen=True)
class TokenUsage:
    """Token counts of a model call or a session."""

    input_tokens: int = field(default=0, metadata=wire.key("input_tokens"))
    output_tokens: int = field(default=0, metadata=wire.key("output_tokens"))
    total_tokens: int = field(default=0, metadata=wire.key("total_tokens"))
    cache_read_tokens: int | None = field(default=None, metadata=wire.key("cache_read_tokens"))
    cache_write_tokens: int | None = field(default=None, metadata=wire.key("cache_write_tokens"))


@dataclass(frozen=True)
class EventContext:
    """Context of an event in its session."""

    working_directory: str = ""
    recent_tools: list[str] = field(default_factory=list)
    """Recently used tools, the latest last; at most ten."""
    token_usage: TokenUsage = field(default_factory=TokenUsage, metadata=wire.of(TokenUsage))


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call."""

    success: bool = True
    output: str = ""
    exit_code: int | None = None
    duration: int = 0
    """Run time in milliseconds."""


@dataclass(frozen=True)
class ToolCall:
    """A tool call of a model."""

    id: str = ""
    name: str = ""
    args: ToolArgs = field(default_factory=dict)


@dataclass(frozen=True)
class ModelConfig:
    """A model and its parameters."""

    name: str = ""
    provider: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class GenerateResponse:
    """The response of a model."""

    text: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list, metadata=wire.list_of(ToolCall))
    usage: TokenUsage = field(default_factory=TokenUsage, metadata=wire.of(TokenUsage))
    duration: int = 0
    """Run time in milliseconds."""
