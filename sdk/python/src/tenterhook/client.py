# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The client: registers hooks, fires events and watches the daemon."""

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
from .hooks import Handler, Hook, HookConfig, HookInfo, ListedHook, Matcher, make_hook, to_listed_hook
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
"""How much is recorded about hooks, in addition to the decisions themselves."""

_LEVELS: dict[AuditLevel, pb.AuditLevel] = {
    "off": pb.AUDIT_LEVEL_OFF,
    "info": pb.AUDIT_LEVEL_INFO,
    "verbose": pb.AUDIT_LEVEL_VERBOSE,
}


def _show_log() -> None:
    """Prints the log of this package, unless the program has configured logging itself."""
    log = logging.getLogger("tenterhook")
    if log.handlers or logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("tenterhook: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


class TenterhookClient(Registering):
    """A client of the Tenterhook daemon of this user account.

    The client connects on first use: when it is entered (`async with client:`), when a method is awaited, or when a
    hook is registered while an event loop runs. When the connection breaks, it reconnects and registers its hooks
    again.
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
            home: State directory of the daemon; defaults to that of this user account.
            address: Address of the daemon: the path of a socket, or `127.0.0.1:7878`. By default it is found in the
                state directory.
            token: Token for TCP; by default it is read from the state directory.
            name: Name shown to users, such as `my-agent/1.2`.
            connect_timeout: Seconds that a call waits for the connection.
        """
        self._place = Place(home, address, token, name)
        self._connect_timeout = connect_timeout
        self._hooks: dict[str, Hook] = {}
        self._later: list[Pending[Any]] = []
        self._link: Link | None = None
        self._observer = Observer()
        self._observing: str | None = None

    # === hooks; the typed methods are in registering.py ===

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
        """Unregisters a hook, so that its handler no longer runs. Await the result to wait until the daemon has removed
        the hook. The result is false if this client had no hook with this id."""
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
        """Lists the hooks of this client and their state at the daemon."""
        return [hook.info() for hook in self._hooks.values() if hook.hook_id != self._observing]

    async def list_all_hooks(self) -> list[ListedHook]:
        """Lists the daemon's active hooks of all owners, in the order in which they run."""
        answer = await (await self._channel()).list(pb.ListHooksRequest(all=True))
        return [to_listed_hook(hook) for hook in answer.hooks]

    def set_hook_audit_level(self, level: AuditLevel, *, code: str | None = None) -> Pending[AuditLevel]:
        """Sets how much is recorded about hooks and returns the previous level. A level that records less needs a
        user's `code`."""
        if level not in _LEVELS:
            raise ValueError(f"level must be 'off', 'info' or 'verbose', not {level!r}")

        async def change() -> AuditLevel:
            request = pb.SetAuditLevelRequest(level=_LEVELS[level], proof=pb.Proof(code=code) if code else None)
            answer = await (await self._channel()).set_audit_level(request)
            return next((name for name, number in _LEVELS.items() if number == answer.previous), "info")

        pending = Pending(change)
        self._later = [*(other for other in self._later if not other.heard), pending]
        return pending

    # === the connection ===

    async def ready(self) -> None:
        """Waits until all hooks are registered. Raises an error if the daemon refuses a hook or cannot be reached."""
        later, self._later = self._later, []
        await self._channel()
        for pending in later:
            if not pending.heard:
                await pending
        await self._settled(list(self._hooks.values()))

    async def serve(self) -> None:
        """Runs the hooks until the call is cancelled or the client is closed."""
        async with self:
            await self._linked().ended()

    def run(self) -> None:
        """Runs the hooks until Ctrl-C or SIGTERM, for a program that does nothing else."""

        async def main() -> None:
            serving = asyncio.ensure_future(self.serve())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
            await serving

        _show_log()
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(main())

    async def close(self) -> None:
        """Unregisters all hooks and disconnects. The next use connects again."""
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
        # A link belongs to its event loop, so each asyncio.run() needs a new link.
        if self._link is None or self._link.loop_is_closed:
            for hook in self._hooks.values():
                hook.settled = asyncio.Event()
                hook.unsettle()
            self._link = Link(self._place, self._hooks)
        return self._link

    async def _channel(self) -> Channel:
        return await self._linked().channel(self._connect_timeout)

    async def _settled(self, hooks: list[Hook]) -> None:
        await self._channel()
        try:
            waits = (hook.settled.wait() for hook in hooks)
            await asyncio.wait_for(asyncio.gather(*waits), self._connect_timeout)
        except asyncio.TimeoutError:
            raise NotConnectedError("the daemon did not confirm the hooks in time") from None
        problems = [hook.error for hook in hooks if hook.error is not None]
        if problems:
            raise problems[0]

    # === events ===

    async def fire(
        self, event: HookEvent | Mapping[str, Any], *, source: str = "sdk", timeout_ms: int | None = None
    ) -> Outcome:
        """Runs an event of an agent through hooks and rules and records the outcome. `source` is the agent's name.

        Raises:
            NotConnectedError: The daemon did not decide. A guarded agent should not continue.
        """
        payload = event.payload() if isinstance(event, HookEvent) else dict(event)
        event_type = payload.pop("eventType", None)
        if not isinstance(event_type, str) or not event_type:
            raise InvalidEventError("the event has no `eventType`")
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
        """Fires an event in a harness's own format; the outcome's `reply` has that format too. `callbacks` are
        answers of hooks that already ran in this program. They are combined with the verdicts of the policy, and the
        record names these hooks."""
        request = pb.FireRequest(
            event_type=event, payload=as_json(payload), source=harness, native=True, timeout_ms=timeout_ms or 0
        )
        request.callbacks.extend(callback_answer(answer) for answer in callbacks)
        response = await (await self._channel()).fire(request)
        outcome = read_outcome(response)
        if response.callbacks != len(callbacks):
            message = "the daemon does not support answers of callbacks"
            raise RefusedError(message, code="unimplemented", hint="update the daemon; see `tenterhook --version`")
        return outcome

    async def watch(self, *kinds: str, session_id: str | None = None) -> AsyncIterator[WatchEvent]:
        """Streams the daemon's events from now on, until the connection ends. Without `kinds`, all events."""
        call = (await self._channel()).watch(pb.WatchRequest(kinds=kinds, session_id=session_id or ""))
        try:
            async for news in call:
                yield WatchEvent(news.number, news.kind, json.loads(news.data or b"{}"))
        except grpc.aio.AioRpcError as error:
            raise explained(error) from error
        finally:
            call.cancel()

    def on_file_changed(self, listener: FileListener) -> Callable[[], None]:
        """Calls the listener whenever an agent has written or edited a file. Returns a function that removes it."""
        return self._observe(self._observer.files, listener)

    def on_todo_update(self, listener: TodoListener) -> Callable[[], None]:
        """Calls the listener with an agent's to-do list whenever it changes. Returns a function that removes it."""
        return self._observe(self._observer.todos, listener)

    def _observe(self, listeners: list[Any], listener: Any) -> Callable[[], None]:
        listeners.append(listener)
        if self._observing is None:
            self._observing = self.register_hook("PostToolUse", self._observer.receive, config={"async": True})

        def end() -> None:
            if listener in listeners:
                listeners.remove(listener)
            if self._observer.idle and self._observing is not None:
                self.unregister_hook(self._observing)
                self._observing = None

        return end

    # === the agent of the daemon ===

    async def create_session(
        self,
        working_directory: str | os.PathLike[str] | None = None,
        *,
        system_prompt: str | None = None,
        model: Mapping[str, Any] | None = None,
        tools: Sequence[str] = (),
        permission_mode: PermissionMode = "default",
    ) -> str:
        """Starts a session of the daemon's agent and returns its id. Only this client can use the session.

        Args:
            working_directory: Working directory; defaults to that of this process.
            system_prompt: System prompt of the model.
            model: `{"provider": "anthropic", "name": ...}`; API keys are configured in the daemon. Without a model the
                session can only run tools.
            tools: Names of the tools that the agent may use; defaults to all.
            permission_mode: What the agent may do without asking the user. Hooks and rules apply in every mode.
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
        """Ends a session and cancels its current turn."""
        await agent.end_session(await self._channel(), session_id, reason)

    async def generate(self, session_id: str, prompt: str) -> GenerateResponse:
        """Runs one turn of a session and returns the final response.

        Raises:
            RefusedError: A hook, a rule or the user ended the turn (`blocked`), or the model did not respond (`model`).
        """
        return await agent.generate(await self._channel(), session_id, prompt)

    async def generate_stream(self, session_id: str, prompt: str) -> AsyncIterator[GenerateStep]:
        """Runs one turn and yields its steps, including drafts of the model. Ending the iteration cancels the turn."""
        async for step in agent.turn(await self._channel(), session_id, prompt, drafts=True):
            yield step

    async def execute_tool(
        self, session_id: str, tool: str, args: ToolArgs, *, timeout_ms: int | None = None
    ) -> ToolResult:
        """Runs a tool in a session. The same hooks and rules apply as to a call by the model, with one exception: a
        hook whose handler calls this method is not called for this tool. A tool that ran and failed is a result, not
        an error.

        Raises:
            RefusedError: The call was denied (`blocked`), or the session belongs to another client (`not-found`).
        """
        return await agent.execute_tool(await self._channel(), session_id, tool, args, timeout_ms)


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(path).absolute()
