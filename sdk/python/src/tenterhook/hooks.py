# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hooks of a client, and their state at the daemon."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict, TypeVar, cast, overload

from .errors import InvalidHookError, TenterhookError
from .events import HookEvent
from .response import HookResponse
from .v1 import hooks_pb2 as pb

E = TypeVar("E", bound=HookEvent)

AsyncHandler = Callable[[E], Awaitable["HookResponse | None"]]
"""A coroutine function. It is cancelled when its time limit is over or the daemon no longer waits."""
PlainHandler = Callable[[E], "HookResponse | None"]
"""A plain function. It runs in a thread, which cannot be cancelled."""
Handler = AsyncHandler[E] | PlainHandler[E]
"""The function of a hook. If it returns nothing, the action continues."""


class Decorator(Protocol[E]):
    """The decorator `@client.hook(...)`; it returns the function unchanged."""

    @overload
    def __call__(self, handler: AsyncHandler[E], /) -> AsyncHandler[E]: ...
    @overload
    def __call__(self, handler: PlainHandler[E], /) -> PlainHandler[E]: ...


class Matcher(TypedDict, total=False):
    """Limits a hook to some events of its type; all fields that are set must match."""

    tool: str
    """Exact name of the tool."""
    path_pattern: str
    """Glob pattern for file paths; `*.env` matches at any depth."""
    command_pattern: str
    """Regular expression for shell commands."""


HookConfig = TypedDict(
    "HookConfig",
    {
        "priority": int,
        "timeout_ms": int,
        "async": bool,
        "fail_behavior": Literal["continue", "block"],
        "linger_ms": int,
    },
    total=False,
)
"""Options of a hook.

- `priority`: position in the order of hooks; lower numbers run first.
- `timeout_ms`: time limit; defaults to 5000.
- `async`: the daemon does not wait for the hook, and the response is ignored.
- `fail_behavior`: what happens if the hook fails; defaults to `continue`.
- `linger_ms`: how long the hook stays registered after the connection breaks; defaults to 30000.
"""

State = Literal["waiting", "registered", "refused"]


@dataclass(frozen=True)
class HookInfo:
    """A hook of this client."""

    hook_id: str
    event_type: str
    matcher: Matcher
    config: HookConfig
    state: State
    """`waiting` until the daemon has registered or refused the hook."""
    error: TenterhookError | None = None
    """Why the daemon refused the hook."""


@dataclass(frozen=True)
class ListedHook:
    """An active hook of the daemon, of any owner."""

    hook_id: str
    event_type: str
    matcher: Matcher
    config: HookConfig
    own: bool
    """Whether the hook belongs to this client."""
    client_name: str
    """Name of the client; empty for a hook from a configuration file."""
    connected: bool
    """Whether the client is connected."""


@dataclass(eq=False)
class Hook:
    """A hook and its handler."""

    hook_id: str
    event_type: str
    handler: Handler[Any]
    matcher: Matcher
    config: HookConfig
    state: State = "waiting"
    error: TenterhookError | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    def settle(self, error: TenterhookError | None) -> None:
        """Stores the daemon's answer: the hook is registered if `error` is None."""
        self.state, self.error = ("registered", None) if error is None else ("refused", error)
        self.settled.set()

    def unsettle(self) -> None:
        """Marks the hook as not registered, so that it is registered again."""
        self.state, self.error = "waiting", None
        self.settled.clear()

    def info(self) -> HookInfo:
        """Returns the public description of the hook."""
        return HookInfo(self.hook_id, self.event_type, self.matcher, self.config, self.state, self.error)

    def request(self) -> pb.RegisterHookRequest:
        """Returns the registration request."""
        fails = {"continue": pb.FAIL_CONTINUE, "block": pb.FAIL_BLOCK}
        config: dict[str, Any] = dict(self.config)
        if "fail_behavior" in config:
            config["fail_behavior"] = fails[config["fail_behavior"]]
        return pb.RegisterHookRequest(
            event_type=self.event_type,
            matcher=pb.HookMatcher(**self.matcher) if self.matcher else None,
            config=pb.HookConfig(**config),
            hook_id=self.hook_id,
        )


def to_listed_hook(info: pb.HookInfo) -> ListedHook:
    """Converts a hook from the format of the daemon."""
    matcher: dict[str, Any] = {field.name: value for field, value in info.matcher.ListFields()}
    config: dict[str, Any] = {field.name: value for field, value in info.config.ListFields()}
    if "fail_behavior" in config:
        config["fail_behavior"] = "block" if info.config.fail_behavior == pb.FAIL_BLOCK else "continue"
    about = (info.hook_id, info.event_type, cast("Matcher", matcher), cast("HookConfig", config))
    return ListedHook(*about, info.own, info.client_name, info.connected)


def make_hook(
    event: str,
    handler: Handler[Any],
    matcher: Mapping[str, Any] | None,
    config: Mapping[str, Any] | None,
    hook_id: str | None,
) -> Hook:
    """Creates a hook and checks its options as far as possible without the daemon."""
    if not isinstance(event, str) or not event:
        raise InvalidHookError(f"the event must be a string such as 'PreToolUse', not {event!r}")
    if not callable(handler):
        raise InvalidHookError(f"the handler must be a function of one event, not {handler!r}")
    matcher_kinds = {"tool": str, "path_pattern": str, "command_pattern": str}
    config_kinds = {"priority": int, "timeout_ms": int, "async": bool, "fail_behavior": str, "linger_ms": int}
    _check("matcher", matcher, matcher_kinds)
    _check("config", config, config_kinds)
    if config and config.get("fail_behavior", "continue") not in ("continue", "block"):
        raise InvalidHookError(f"fail_behavior must be 'continue' or 'block', not {config['fail_behavior']!r}")
    for name in ("timeout_ms", "linger_ms"):
        if config and config.get(name, 1) <= 0:
            raise InvalidHookError(f"{name} must be a positive number of milliseconds, not {config[name]!r}")
    if hook_id is not None and not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", hook_id):
        raise InvalidHookError(f"a hook id must be 1 to 64 characters of A-Z a-z 0-9 _ . -, not {hook_id!r}")
    name = hook_id or _generate_id(handler)
    return Hook(name, event, handler, Matcher(**(matcher or {})), HookConfig(**(config or {})))  # type: ignore[typeddict-item]


def _check(what: str, given: Mapping[str, Any] | None, kinds: Mapping[str, type]) -> None:
    for name, value in (given or {}).items():
        kind = kinds.get(name)
        if kind is None:
            raise InvalidHookError(f"unknown key `{name}` in {what}", hint=f"known keys: {', '.join(kinds)}")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InvalidHookError(f"`{name}` in {what} must be of type {kind.__name__}, not {value!r}")


def _generate_id(handler: Handler[Any]) -> str:
    """Generates a unique id that contains the name of the handler."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", getattr(handler, "__name__", "hook")).strip("-")
    return f"{name[:40] or 'hook'}-{secrets.token_hex(8)}"
