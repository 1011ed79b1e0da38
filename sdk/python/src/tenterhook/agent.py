# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The daemon's own agent: sessions, turns and single tools, past the same hooks and rules as everything else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import grpc.aio

from . import handling, wire
from .channel import as_json, explained, refused
from .errors import RefusedError
from .shapes import GenerateResponse, ToolCall, ToolResult
from .v1 import agent_pb2 as pb

if TYPE_CHECKING:
    from .channel import Channel

PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"]
"""What a session may do without asking. Hooks and rules are asked in every mode."""


@dataclass(frozen=True)
class GenerateStep:
    """Something that happens in a turn; `type` says which of the others it has."""

    type: Literal["text", "draft", "tool_call", "tool_result", "moment", "done"]
    text: str = ""
    """`text`: what the model said, and hooks let pass. `draft`: what it is saying; no hook has seen it yet."""
    call: ToolCall | None = None
    """`tool_call`: what the model wants."""
    call_id: str = ""
    """`tool_result`: which call it is of."""
    denied: bool = False
    """`tool_result`: the tool did not run; the result's `output` says why."""
    nudge: str | None = None
    """`tool_result`: what the model could do instead."""
    result: ToolResult | None = None
    """`tool_result`: what came of it."""
    moment: Mapping[str, Any] = field(default_factory=dict)
    """`moment`: something else, such as `{"what": "message", "text": ...}`."""
    response: GenerateResponse | None = None
    """`done`: the turn is over; the last step."""


async def create_session(channel: Channel, request: pb.CreateSessionRequest) -> str:
    """Begins a session; gives its id."""
    return (await channel.create_session(request)).session_id


async def end_session(channel: Channel, session_id: str, reason: str) -> None:
    """Ends a session."""
    await channel.end_session(pb.EndSessionRequest(session_id=session_id, reason=reason, handling=handling.now()))


async def generate(channel: Channel, session_id: str, prompt: str) -> GenerateResponse:
    """One turn, to its end."""
    async for step in turn(channel, session_id, prompt, drafts=False):
        if step.response is not None:
            return step.response
    raise RefusedError("the turn ended without an answer", code="internal", hint="is the daemon still there?")


async def turn(channel: Channel, session_id: str, prompt: str, *, drafts: bool) -> AsyncIterator[GenerateStep]:
    """One turn, step by step. Whoever stops reading cancels it."""
    request = pb.GenerateRequest(session_id=session_id, prompt=prompt, drafts=drafts, handling=handling.now())
    call = channel.generate(request)
    try:
        async for event in call:
            if (step := _read(event)) is not None:
                yield step
    except grpc.aio.AioRpcError as error:
        raise explained(error) from error
    finally:
        call.cancel()


async def execute_tool(
    channel: Channel, session_id: str, tool: str, args: Mapping[str, Any], timeout_ms: int | None
) -> ToolResult:
    """One tool in a session."""
    request = pb.ExecuteToolRequest(
        session_id=session_id,
        tool=tool,
        args=as_json(dict(args)),
        timeout_ms=timeout_ms or 0,
        handling=handling.now(),
    )
    return wire.read(ToolResult, json.loads((await channel.execute_tool(request)).result))


def _read(event: pb.GenerateEvent) -> GenerateStep | None:
    what = event.WhichOneof("what")
    if what == "error":
        raise refused(event.error)
    # What a newer daemon says is passed over.
    return _STEPS[what](event) if what in _STEPS else None


def _result(event: pb.GenerateEvent) -> GenerateStep:
    told = json.loads(event.tool_result)
    result, denied, nudge = wire.read(ToolResult, told), told.get("denied", False), told.get("nudge")
    return GenerateStep("tool_result", call_id=told.get("id", ""), denied=denied, nudge=nudge, result=result)


_STEPS: dict[str, Callable[[pb.GenerateEvent], GenerateStep]] = {
    "text": lambda event: GenerateStep("text", text=event.text),
    "draft": lambda event: GenerateStep("draft", text=event.draft),
    "tool_call": lambda event: GenerateStep("tool_call", call=wire.read(ToolCall, json.loads(event.tool_call))),
    "tool_result": _result,
    "moment": lambda event: GenerateStep("moment", moment=json.loads(event.moment)),
    "done": lambda event: GenerateStep("done", response=wire.read(GenerateResponse, json.loads(event.done))),
}
