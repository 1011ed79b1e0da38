# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The daemon's own agent: turns and single tools, past the same hooks and rules as everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import grpc.aio

from . import wire
from .channel import as_json, explained, refused
from .errors import RefusedError
from .shapes import GenerateResponse, ToolResult
from .v1 import agent_pb2 as pb

if TYPE_CHECKING:
    from .channel import Channel


async def generate(channel: Channel, session_id: str, prompt: str) -> GenerateResponse:
    """One turn, to its end."""
    try:
        async for event in channel.generate(pb.GenerateRequest(session_id=session_id, prompt=prompt)):
            if event.HasField("error"):
                raise refused(event.error)
            if event.HasField("done"):
                return wire.read(GenerateResponse, json.loads(event.done))
    except grpc.aio.AioRpcError as error:
        raise explained(error) from error
    raise RefusedError("the turn ended without an answer", code="internal")


async def execute_tool(channel: Channel, session_id: str, tool: str, args: Mapping[str, Any]) -> ToolResult:
    """One tool in a session."""
    timeout = args.get("timeout")
    request = pb.ExecuteToolRequest(session_id=session_id, tool=tool, args=as_json(args))
    if isinstance(timeout, int):
        request.timeout_ms = timeout
    return wire.read(ToolResult, json.loads((await channel.execute_tool(request)).result))
