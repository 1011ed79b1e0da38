# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Connections to the daemon: through this account's socket or, if there is no socket, over TCP with a token."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
import grpc.aio

from . import home
from .errors import ErrorCode, NotConnectedError, RefusedError, TenterhookError
from .v1 import agent_pb2 as agent_pb
from .v1 import hooks_pb2 as pb
from .v1.agent_pb2_grpc import AgentServiceStub
from .v1.hooks_pb2_grpc import HookServiceStub

if TYPE_CHECKING:
    from .v1.agent_pb2_grpc import AgentServiceAsyncStub
    from .v1.hooks_pb2_grpc import HookServiceAsyncStub

R = TypeVar("R")

MAX_MESSAGE_BYTES = 33 * 1024 * 1024
"""Maximum size of a message: a payload of 32 MiB, and 1 MiB for the other fields."""
_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # The daemon is local, so the proxy settings in the environment are ignored.
    ("grpc.enable_http_proxy", 0),
]

_CODES: dict[pb.ErrorCode, ErrorCode] = {
    pb.ERROR_INVALID: "invalid",
    pb.ERROR_NOT_FOUND: "not-found",
    pb.ERROR_ALREADY_EXISTS: "already-exists",
    pb.ERROR_LIMIT: "limit",
    pb.ERROR_REFUSED: "refused",
    pb.ERROR_UNKNOWN_CALL: "not-found",
    pb.ERROR_TIMED_OUT: "timed-out",
    pb.ERROR_CANCELLED: "cancelled",
    pb.ERROR_UNREGISTERED: "cancelled",
    pb.ERROR_OVERLOADED: "overloaded",
    pb.ERROR_BLOCKED: "blocked",
    pb.ERROR_MODEL: "model",
}

_CREDENTIALS_HINT = "the token for TCP is in `run/token` of the state directory; the socket needs none"
_STATUSES: dict[grpc.StatusCode, tuple[ErrorCode, str | None]] = {
    grpc.StatusCode.ABORTED: ("replaced", "each process needs its own client; do not use a client after a fork"),
    grpc.StatusCode.PERMISSION_DENIED: ("unauthenticated", _CREDENTIALS_HINT),
    grpc.StatusCode.UNAUTHENTICATED: ("unauthenticated", _CREDENTIALS_HINT),
    grpc.StatusCode.INVALID_ARGUMENT: ("invalid", None),
    grpc.StatusCode.UNIMPLEMENTED: ("unimplemented", "update the daemon; see `tenterhook --version`"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: ("overloaded", None),
}
"""Statuses that a retry cannot fix. Any other status is treated as a daemon that did not answer."""


class Place:
    """Address of a daemon and identity of the client."""

    def __init__(
        self, home_dir: str | os.PathLike[str] | None, address: str | None, token: str | None, name: str
    ) -> None:
        self._home = home_dir
        self._address = address
        self._token = token
        self._identity: tuple[tuple[str, str], ...] = (
            ("tenterhook-client-id", secrets.token_hex(16)),
            ("tenterhook-client-name", name),
        )

    def open(self) -> Channel:
        """Opens a channel to the current address of the daemon."""
        way = self._way()
        metadata = self._identity
        if way.token:
            metadata = (*metadata, ("authorization", f"Bearer {way.token}"))
        return Channel(way.target, metadata)

    def _way(self) -> home.Address:
        if self._address is None:
            return home.address_of(home.find_home(self._home))
        if self._address.startswith("/"):
            return home.unix(Path(self._address))
        return home.Address(self._address, self._token or home.token_of(home.find_home(self._home)))


class Channel:
    """An open connection to a daemon."""

    def __init__(self, target: str, metadata: tuple[tuple[str, str], ...]) -> None:
        self.target = target
        self._metadata = metadata
        # By default gRPC uses the socket's path as the host name, which a strict HTTP/2 server rejects.
        named = [("grpc.default_authority", "localhost")] if target.startswith("unix:") else []
        self._channel = grpc.aio.insecure_channel(target, options=[*_OPTIONS, *named])
        self._stub: HookServiceAsyncStub = HookServiceStub(self._channel)
        self._agent: AgentServiceAsyncStub = AgentServiceStub(self._channel)

    def stream(self) -> grpc.aio.StreamStreamCall[pb.HookResponse, pb.HookEvent]:
        """Opens the stream of calls and responses."""
        return self._stub.HookStream(metadata=self._metadata)

    def watch(self, request: pb.WatchRequest) -> grpc.aio.UnaryStreamCall[pb.WatchRequest, pb.WatchEvent]:
        """Streams the events of the daemon from now on."""
        return self._stub.Watch(request, metadata=self._metadata)

    async def register(self, request: pb.RegisterHookRequest) -> pb.RegisterHookResponse:
        """Registers a hook."""
        return await self._ask(self._stub.RegisterHook, request)

    async def unregister(self, hook_id: str) -> pb.UnregisterHookResponse:
        """Unregisters a hook."""
        return await self._ask(self._stub.UnregisterHook, pb.UnregisterHookRequest(hook_id=hook_id))

    async def list(self, request: pb.ListHooksRequest) -> pb.ListHooksResponse:
        """Lists hooks."""
        return await self._ask(self._stub.ListHooks, request)

    async def fire(self, request: pb.FireRequest) -> pb.FireResponse:
        """Fires an event."""
        return await self._ask(self._stub.Fire, request)

    async def set_audit_level(self, request: pb.SetAuditLevelRequest) -> pb.SetAuditLevelResponse:
        """Sets how much is recorded about hooks."""
        return await self._ask(self._stub.SetAuditLevel, request)

    async def close(self, grace: float | None = None) -> None:
        """Closes the channel. Calls in progress may take `grace` more seconds."""
        await self._channel.close(grace)

    async def create_session(self, request: agent_pb.CreateSessionRequest) -> agent_pb.CreateSessionResponse:
        """Starts a session."""
        return await self._ask(self._agent.CreateSession, request)

    async def end_session(self, request: agent_pb.EndSessionRequest) -> agent_pb.EndSessionResponse:
        """Ends a session."""
        return await self._ask(self._agent.EndSession, request)

    async def execute_tool(self, request: agent_pb.ExecuteToolRequest) -> agent_pb.ExecuteToolResponse:
        """Runs one tool."""
        return await self._ask(self._agent.ExecuteTool, request)

    def generate(
        self, request: agent_pb.GenerateRequest
    ) -> grpc.aio.UnaryStreamCall[agent_pb.GenerateRequest, agent_pb.GenerateEvent]:
        """Runs one turn."""
        return self._agent.Generate(request, metadata=self._metadata)

    async def _ask(self, method: Callable[..., Awaitable[R]], request: Any) -> R:
        try:
            answer = await method(request, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error
        if answer.HasField("error"):  # type: ignore[attr-defined]
            raise refused(answer.error)  # type: ignore[attr-defined]
        return answer


def refused(error: pb.HookError) -> RefusedError:
    """Converts an error in a response."""
    return RefusedError(error.message, code=_CODES.get(error.code, "internal"), hint=error.hint or None)


def explained(error: grpc.aio.AioRpcError) -> TenterhookError:
    """Converts the status of a failed call."""
    code, details = error.code(), error.details() or ""
    if code not in _STATUSES:
        return NotConnectedError(
            f"the daemon does not answer: {details}",
            hint="start it with `tenterhook start`; `tenterhook status` shows its state",
        )
    word, hint = _STATUSES[code]
    return RefusedError(details or "the daemon refused", code=word, hint=hint)


def as_json(value: Any) -> bytes:
    """Encodes a value as JSON."""
    return json.dumps(value, allow_nan=False).encode()
