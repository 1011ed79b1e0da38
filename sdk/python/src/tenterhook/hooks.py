# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A hook as it was written, and as it stands with the daemon."""

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
"""A coroutine function. It is cancelled when its time is over or nobody waits any more."""
PlainHandler = Callable[[E], "HookResponse | None"]
"""A plain function. It runs in a thread; a thread cannot be cancelled."""
Handler = AsyncHandler[E] | PlainHandler[E]
"""What is registered. To answer nothing means to go on."""


class Decorator(Protocol[E]):
    """What `@client.hook(...)` is; the function stays what it is."""

    @overload
    def __call__(self, handler: AsyncHandler[E], /) -> AsyncHandler[E]: ...
    @overload
    def __call__(self, handler: PlainHandler[E], /) -> PlainHandler[E]: ...


class Matcher(TypedDict, total=False):
    """Which events of its type a hook hears; all that is said has to fit."""

    tool: str
    """Exactly this tool."""
    path_pattern: str
    """A glob for the file; `*.env` fits at any depth."""
    command_pattern: str
    """A regular expression for shell commands."""


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
"""How a hook is run.

- `priority`: lower comes earlier.
- `timeout_ms`: how long it may take; 5000 unless said.
- `async`: nobody waits, and what it answers does not count.
- `fail_behavior`: what it means that it fails; `continue` unless said.
- `linger_ms`: how long it outlives a broken connection; 30000 unless said.
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
    """`waiting` until the daemon has it."""
    error: TenterhookError | None = None
    """Why it was refused."""


@dataclass(frozen=True)
class ListedHook:
    """A hook that is in force in the daemon, whoever it belongs to."""

    hook_id: str
    event_type: str
    matcher: Matcher
    config: HookConfig
    own: bool
    """Whether it is this client's."""
    client_name: str
    """What its client calls itself; empty if the hook is in the settings."""
    connected: bool
    """Whether its client is there."""


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
        """The daemon has said yes, or why not."""
        self.state, self.error = ("registered", None) if error is None else ("refused", error)
        self.settled.set()

    def unsettle(self) -> None:
        """The daemon has to be asked again."""
        self.state, self.error = "waiting", None
        self.settled.clear()

    def info(self) -> HookInfo:
        """As others see it."""
        return HookInfo(self.hook_id, self.event_type, self.matcher, self.config, self.state, self.error)

    def request(self) -> pb.RegisterHookRequest:
        """As the daemon is told."""
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


def listed(info: pb.HookInfo) -> ListedHook:
    """A hook as the daemon tells of it."""
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
    """A hook, if it can be one. What only the daemon knows, it says later."""
    if not isinstance(event, str) or not event:
        raise InvalidHookError(f"an event is named by a text such as 'PreToolUse', not {event!r}")
    if not callable(handler):
        raise InvalidHookError(f"a handler is a function of one event, not {handler!r}")
    matcher_kinds = {"tool": str, "path_pattern": str, "command_pattern": str}
    config_kinds = {"priority": int, "timeout_ms": int, "async": bool, "fail_behavior": str, "linger_ms": int}
    _check("matcher", matcher, matcher_kinds)
    _check("config", config, config_kinds)
    if config and config.get("fail_behavior", "continue") not in ("continue", "block"):
        raise InvalidHookError(f"fail_behavior is 'continue' or 'block', not {config['fail_behavior']!r}")
    for name in ("timeout_ms", "linger_ms"):
        if config and config.get(name, 1) <= 0:
            raise InvalidHookError(f"{name} is a positive number of milliseconds, not {config[name]!r}")
    if hook_id is not None and not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", hook_id):
        raise InvalidHookError(f"a hook id is 1 to 64 of A-Z a-z 0-9 _ . -, not {hook_id!r}")
    name = hook_id or _made_up(handler)
    return Hook(name, event, handler, Matcher(**(matcher or {})), HookConfig(**(config or {})))  # type: ignore[typeddict-item]


def _check(what: str, given: Mapping[str, Any] | None, kinds: Mapping[str, type]) -> None:
    for name, value in (given or {}).items():
        kind = kinds.get(name)
        if kind is None:
            raise InvalidHookError(f"`{name}` means nothing in a {what}", hint=f"it can have: {', '.join(kinds)}")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InvalidHookError(f"`{name}` in a {what} is of type {kind.__name__}, not {value!r}")


def _made_up(handler: Handler[Any]) -> str:
    """An id that says whose it is in the ledger, and that nobody else has."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", getattr(handler, "__name__", "hook")).strip("-")
    return f"{name[:40] or 'hook'}-{secrets.token_hex(8)}"
