# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The way to the daemon: the socket of this account first, then TCP with its token."""

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
from .errors import NotConnectedError, RefusedError, TenterhookError
from .v1 import hooks_pb2 as pb
from .v1.hooks_pb2_grpc import HookServiceStub

if TYPE_CHECKING:
    from .v1.hooks_pb2_grpc import HookServiceAsyncStub

R = TypeVar("R")

_LARGEST = 16 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    # The daemon is on this machine, whatever the environment says about proxies.
    ("grpc.enable_http_proxy", 0),
]

FATAL = (
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
)
"""To ask again would change nothing."""


class Place:
    """Where a daemon is, and who we are to it."""

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
        """A channel to where the daemon is just now."""
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
    """An open way to a daemon."""

    def __init__(self, target: str, metadata: tuple[tuple[str, str], ...]) -> None:
        self.target = target
        self._metadata = metadata
        self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._stub: HookServiceAsyncStub = HookServiceStub(self._channel)

    def stream(self) -> grpc.aio.StreamStreamCall[pb.HookResponse, pb.HookEvent]:
        """The stream of questions and answers."""
        return self._stub.HookStream(metadata=self._metadata)

    def watch(self, request: pb.WatchRequest) -> grpc.aio.UnaryStreamCall[pb.WatchRequest, pb.WatchEvent]:
        """What happens from now on."""
        return self._stub.Watch(request, metadata=self._metadata)

    async def register(self, request: pb.RegisterHookRequest) -> pb.RegisterHookResponse:
        """Registers a hook."""
        return await self._ask(self._stub.RegisterHook, request)

    async def unregister(self, request: pb.UnregisterHookRequest) -> pb.UnregisterHookResponse:
        """Takes a hook back."""
        return await self._ask(self._stub.UnregisterHook, request)

    async def list(self, request: pb.ListHooksRequest) -> pb.ListHooksResponse:
        """Lists hooks."""
        return await self._ask(self._stub.ListHooks, request)

    async def fire(self, request: pb.FireRequest) -> pb.FireResponse:
        """Takes an event down the road."""
        return await self._ask(self._stub.Fire, request)

    async def set_audit_level(self, request: pb.SetAuditLevelRequest) -> pb.SetAuditLevelResponse:
        """Says how much is recorded."""
        return await self._ask(self._stub.SetAuditLevel, request)

    async def close(self, grace: float | None = None) -> None:
        """Closes it; calls under way may take so many seconds more."""
        await self._channel.close(grace)

    async def _ask(self, method: Callable[..., Awaitable[R]], request: Any) -> R:
        try:
            answer = await method(request, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error
        problem: pb.HookError = answer.error  # type: ignore[attr-defined]
        if problem.code or problem.message:
            code = pb.ErrorCode.Name(problem.code).removeprefix("ERROR_").lower()
            raise RefusedError(problem.message, code=code, hint=problem.hint or None)
        return answer


def explained(error: grpc.aio.AioRpcError) -> TenterhookError:
    """What a status means, for people."""
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.ABORTED:
        return RefusedError(
            "another stream of this very client took over",
            code="aborted",
            hint="make a client of its own in each process; a forked one must not be used",
        )
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return RefusedError(
            "the daemon does not know this call", code="unimplemented", hint="a newer one might: update Tenterhook"
        )
    if code in FATAL:
        return RefusedError(f"the daemon refused: {details}", code=code.name.lower())
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return RefusedError(f"this is too much: {details}", code="resource_exhausted")
    return NotConnectedError(f"the daemon does not answer: {details}", hint="is it up? `tenterhook status`")


def as_json(value: Any) -> bytes:
    """JSON as it is sent."""
    return json.dumps(value, allow_nan=False).encode()
