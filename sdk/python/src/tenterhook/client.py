# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The client: register hooks, fire events, watch."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import grpc
import grpc.aio

from . import agent, handling
from .agent import GenerateStep, PermissionMode
from .channel import Place, as_json, explained
from .errors import InvalidEventError, InvalidHookError, NotConnectedError, RefusedError
from .events import HookEvent
from .gather import CallbackAnswer, callback_answer
from .hooks import Handler, Hook, HookConfig, HookInfo, ListedHook, Matcher, listed, make_hook
from .link import Link
from .live import FileListener, Observer, TodoListener, WatchEvent
from .outcome import Outcome, read_outcome
from .pending import Pending
from .registering import Registering
from .shapes import GenerateResponse, ToolArgs, ToolResult
from .v1 import agent_pb2 as agent_pb
from .v1 import hooks_pb2 as pb

if TYPE_CHECKING:
    import os

    from .channel import Channel

AuditLevel = Literal["off", "info", "verbose"]
"""How much is recorded about hooks beside the decisions themselves."""

_LEVELS: dict[AuditLevel, pb.AuditLevel] = {
    "off": pb.AUDIT_LEVEL_OFF,
    "info": pb.AUDIT_LEVEL_INFO,
    "verbose": pb.AUDIT_LEVEL_VERBOSE,
}


def _show_log() -> None:
    """Shows what this package logs, unless the program has set up logging itself."""
    log = logging.getLogger("tenterhook")
    if log.handlers or logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("tenterhook: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


class TenterhookClient(Registering):
    """Speaks with the Tenterhook daemon of this account.

    Nothing is connected until it has to be: when the client is entered (`async with client:`), when something is
    awaited, or when a hook is registered while an event loop runs. A connection that breaks comes back by itself,
    with all hooks.
    """

    def __init__(
        self,
        *,
        home: str | os.PathLike[str] | None = None,
        address: str | None = None,
        token: str | None = None,
        name: str = "python-sdk",
        connect_timeout: float = 5.0,
    ) -> None:
        """
        Args:
            home: The daemon's home, if it is not the usual one of this account.
            address: Where the daemon listens, if that is not to be looked up: the path of a socket, or
                `127.0.0.1:7878`.
            token: What opens the TCP port; unless given, it is read from the home.
            name: What people see in the ledger, such as `my-agent/1.2`.
            connect_timeout: How many seconds a call waits for a daemon that is not there.
        """
        self._place = Place(home, address, token, name)
        self._patience = connect_timeout
        self._hooks: dict[str, Hook] = {}
        self._later: list[Pending[Any]] = []
        self._link: Link | None = None
        self._observer = Observer()
        self._observing: str | None = None

    # === hooks; the typed ways in are in registering.py ===

    def _add(
        self,
        event: str,
        handler: Handler[Any],
        matcher: Matcher | None,
        config: HookConfig | None,
        hook_id: str | None,
    ) -> str:
        hook = make_hook(event, handler, matcher, config, hook_id)
        if hook.hook_id in self._hooks:
            raise InvalidHookError(f"this client has a hook `{hook.hook_id}` already")
        self._hooks[hook.hook_id] = hook
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            link = self._linked()
            link.in_background(link.register())
        return hook.hook_id

    def _temporarily(
        self, event: str, handler: Handler[Any], matcher: Matcher | None, config: HookConfig | None
    ) -> AbstractAsyncContextManager[str]:
        @contextlib.asynccontextmanager
        async def block() -> AsyncIterator[str]:
            hook_id = self._add(event, handler, matcher, config, None)
            try:
                await self._settled([self._hooks[hook_id]])
                yield hook_id
            finally:
                await self.unregister_hook(hook_id)

        return block()

    def unregister_hook(self, hook_id: str) -> Pending[bool]:
        """Takes a hook back: it hears nothing any more. Await the result to know that the daemon has let go of it; it
        is false if there was none."""
        hook, link = self._hooks.pop(hook_id, None), self._link

        async def unregister() -> bool:
            if hook is not None and link is not None:
                await link.unregister(hook)
            return hook is not None

        pending = Pending(unregister)
        if link is not None and pending.task is not None:
            link.wait_before_closing(pending.task)
        return pending

    def list_hooks(self) -> list[HookInfo]:
        """The hooks of this client, and how each stands with the daemon."""
        return [hook.info() for hook in self._hooks.values() if hook.hook_id != self._observing]

    async def list_all_hooks(self) -> list[ListedHook]:
        """All hooks that are in force in the daemon, whoever they belong to, in the order they run in."""
        answer = await (await self._channel()).list(pb.ListHooksRequest(all=True))
        return [listed(hook) for hook in answer.hooks]

    def set_hook_audit_level(self, level: AuditLevel, *, code: str | None = None) -> Pending[AuditLevel]:
        """Says how much is recorded about hooks; gives the level before. Less needs a person's `code`."""
        if level not in _LEVELS:
            raise ValueError(f"a level is 'off', 'info' or 'verbose', not {level!r}")

        async def change() -> AuditLevel:
            request = pb.SetAuditLevelRequest(level=_LEVELS[level], proof=pb.Proof(code=code) if code else None)
            answer = await (await self._channel()).set_audit_level(request)
            return next((name for name, number in _LEVELS.items() if number == answer.previous), "info")

        pending = Pending(change)
        self._later = [*(other for other in self._later if not other.heard), pending]
        return pending

    # === the connection ===

    async def ready(self) -> None:
        """Waits until the daemon has every hook; raises what it refused, or that it is not there."""
        later, self._later = self._later, []
        await self._channel()
        for pending in later:
            if not pending.heard:
                await pending
        await self._settled(list(self._hooks.values()))

    async def serve(self) -> None:
        """Serves the hooks until it is cancelled or the client is closed."""
        async with self:
            await self._linked().ended()

    def run(self) -> None:
        """Serves the hooks until Ctrl-C or SIGTERM, for a program that does nothing else."""

        async def main() -> None:
            serving = asyncio.ensure_future(self.serve())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
            await serving

        _show_log()
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(main())

    async def close(self) -> None:
        """Takes all hooks back and hangs up. What is used afterwards connects anew."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        for hook in self._hooks.values():
            hook.unsettle()

    async def __aenter__(self) -> TenterhookClient:
        try:
            await self.ready()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _linked(self) -> Link:
        # A link belongs to its loop; after asyncio.run() has ended, the next one needs another.
        if self._link is None or self._link.loop_is_closed:
            for hook in self._hooks.values():
                hook.settled = asyncio.Event()
                hook.unsettle()
            self._link = Link(self._place, self._hooks)
        return self._link

    async def _channel(self) -> Channel:
        return await self._linked().channel(self._patience)

    async def _settled(self, hooks: list[Hook]) -> None:
        await self._channel()
        try:
            waits = (hook.settled.wait() for hook in hooks)
            await asyncio.wait_for(asyncio.gather(*waits), self._patience)
        except asyncio.TimeoutError:
            raise NotConnectedError("the daemon does not say whether it takes the hooks") from None
        problems = [hook.error for hook in hooks if hook.error is not None]
        if problems:
            raise problems[0]

    # === events ===

    async def fire(
        self, event: HookEvent | Mapping[str, Any], *, source: str = "sdk", timeout_ms: int | None = None
    ) -> Outcome:
        """Takes an event of an agent down the whole road: hooks, rules, record. `source` is the agent's name.

        Raises:
            NotConnectedError: Nobody decided. An agent that is to be guarded should not go on.
        """
        payload = event.payload() if isinstance(event, HookEvent) else dict(event)
        event_type = payload.pop("eventType", None)
        if not isinstance(event_type, str) or not event_type:
            raise InvalidEventError("an event needs its `eventType`")
        request = pb.FireRequest(
            event_type=event_type,
            session_id=str(payload.pop("sessionId", "")),
            payload=as_json(payload),
            source=source,
            timeout_ms=timeout_ms or 0,
        )
        return read_outcome(await (await self._channel()).fire(request))

    async def fire_native(
        self,
        harness: str,
        event: str,
        payload: Mapping[str, Any],
        *,
        timeout_ms: int | None = None,
        callbacks: Sequence[CallbackAnswer] = (),
    ) -> Outcome:
        """The same with a harness's own payload; `reply` is in its own words. `callbacks` are the answers of hooks that
        already ran in this program: they are combined with the policy, and the record names them."""
        request = pb.FireRequest(
            event_type=event, payload=as_json(payload), source=harness, native=True, timeout_ms=timeout_ms or 0
        )
        request.callbacks.extend(callback_answer(answer) for answer in callbacks)
        response = await (await self._channel()).fire(request)
        outcome = read_outcome(response)
        if response.callbacks != len(callbacks):
            message = "the daemon does not take the answers of callbacks into account"
            raise RefusedError(message, code="unimplemented", hint="update it; see `tenterhook --version`")
        return outcome

    async def watch(self, *kinds: str, session_id: str | None = None) -> AsyncIterator[WatchEvent]:
        """What happens in the daemon from now on, of these kinds or all. It ends when the connection does."""
        call = (await self._channel()).watch(pb.WatchRequest(kinds=kinds, session_id=session_id or ""))
        try:
            async for news in call:
                yield WatchEvent(news.number, news.kind, json.loads(news.data or b"{}"))
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error
        finally:
            call.cancel()

    def on_file_changed(self, listener: FileListener) -> Callable[[], None]:
        """Calls back whenever an agent has written or edited a file. Returns how to end that."""
        return self._observe(self._observer.files, listener)

    def on_todo_update(self, listener: TodoListener) -> Callable[[], None]:
        """Calls back with an agent's whole list of what is to do, whenever it changes. Returns how to end that."""
        return self._observe(self._observer.todos, listener)

    def _observe(self, listeners: list[Any], listener: Any) -> Callable[[], None]:
        listeners.append(listener)
        if self._observing is None:
            self._observing = self.register_hook("PostToolUse", self._observer.see, config={"async": True})

        def end() -> None:
            if listener in listeners:
                listeners.remove(listener)
            if self._observer.idle and self._observing is not None:
                self.unregister_hook(self._observing)
                self._observing = None

        return end

    # === the daemon's own agent ===

    async def create_session(
        self,
        working_directory: str | os.PathLike[str] | None = None,
        *,
        system_prompt: str | None = None,
        model: Mapping[str, Any] | None = None,
        tools: Sequence[str] = (),
        permission_mode: PermissionMode = "default",
    ) -> str:
        """Begins a session of the daemon's own agent; gives its id. Only this client can give it work.

        Args:
            working_directory: Where it works: the directory of this process unless said.
            system_prompt: What the model is told before everything else.
            model: `{"provider": "anthropic", "name": ...}`; the daemon has the keys. Unless said it has only tools.
            tools: The names of the tools it may use; all unless said.
            permission_mode: What it may do without asking a person. Hooks and rules are asked in every mode.
        """
        request = agent_pb.CreateSessionRequest(
            working_directory=str(_absolute(working_directory or ".")),
            system_prompt=system_prompt,
            model=b"" if model is None else as_json(dict(model)),
            tools=tools,
            permission_mode=permission_mode,
            handling=handling.now(),
        )
        return await agent.create_session(await self._channel(), request)

    async def end_session(self, session_id: str, reason: str = "") -> None:
        """Ends a session, and what is under way in it."""
        await agent.end_session(await self._channel(), session_id, reason)

    async def generate(self, session_id: str, prompt: str) -> GenerateResponse:
        """One turn of a session, to the agent's last word.

        Raises:
            RefusedError: A hook, a rule or a person ended it before (`blocked`), or the model did not answer (`model`).
        """
        return await agent.generate(await self._channel(), session_id, prompt)

    async def generate_stream(self, session_id: str, prompt: str) -> AsyncIterator[GenerateStep]:
        """The same, step by step, drafts of the model included. Whoever stops reading cancels the turn."""
        async for step in agent.turn(await self._channel(), session_id, prompt, drafts=True):
            yield step

    async def execute_tool(
        self, session_id: str, tool: str, args: ToolArgs, *, timeout_ms: int | None = None
    ) -> ToolResult:
        """Runs a tool in a session, past the same hooks and rules as when a model asks for it. Inside a handler, that
        hook is not asked about it. A tool that failed is a result.

        Raises:
            RefusedError: Nobody let it run (`blocked`), or the session is not this client's (`not-found`).
        """
        return await agent.execute_tool(await self._channel(), session_id, tool, args, timeout_ms)


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(path).absolute()
