# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sessions of the agent that runs in the daemon. The same hooks and rules apply to it as to all other agents."""

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
"""What a session may do without asking the user. Hooks and rules apply in every mode."""


@dataclass(frozen=True)
class GenerateStep:
    """One step of a turn; `type` determines which other fields are set."""

    type: Literal["text", "draft", "tool_call", "tool_result", "moment", "done"]
    text: str = ""
    """`text`: text of the model that hooks have checked. `draft`: streamed text that hooks have not checked yet."""
    call: ToolCall | None = None
    """`tool_call`: the tool call that the model made."""
    call_id: str = ""
    """`tool_result`: id of the call."""
    denied: bool = False
    """`tool_result`: whether the call was denied. If it was, the result's `output` is the reason."""
    nudge: str | None = None
    """`tool_result`: suggestion of what the model could do instead of the denied call."""
    result: ToolResult | None = None
    """`tool_result`: result of the tool."""
    moment: Mapping[str, Any] = field(default_factory=dict)
    """`moment`: any other event, such as `{"what": "message", "text": ...}`."""
    response: GenerateResponse | None = None
    """`done`: end of the turn; always the last step."""


async def create_session(channel: Channel, request: pb.CreateSessionRequest) -> str:
    """Starts a session and returns its id."""
    return (await channel.create_session(request)).session_id


async def end_session(channel: Channel, session_id: str, reason: str) -> None:
    """Ends a session."""
    await channel.end_session(pb.EndSessionRequest(session_id=session_id, reason=reason, handling=handling.now()))


async def generate(channel: Channel, session_id: str, prompt: str) -> GenerateResponse:
    """Runs one turn and returns the final response."""
    async for step in turn(channel, session_id, prompt, drafts=False):
        if step.response is not None:
            return step.response
    raise RefusedError("the turn ended without an answer", code="internal", hint="is the daemon still there?")


async def turn(channel: Channel, session_id: str, prompt: str, *, drafts: bool) -> AsyncIterator[GenerateStep]:
    """Runs one turn and yields its steps. Ending the iteration cancels the turn."""
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
    """Runs one tool in a session."""
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
    # A newer daemon may send steps that this version does not know; they are ignored.
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
