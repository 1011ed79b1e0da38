# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tenterhook for programs that are built on the Claude Agent SDK."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from .answers import Output, as_sent, beside_reply, obeyed, refusal, residue, unjudged, with_permissions
from .errors import TenterhookError
from .gather import AnswerGatherer, CallbackAnswer, call_key

if TYPE_CHECKING:
    from claude_agent_sdk import HookMatcher
    from claude_agent_sdk.types import HookCallback, HookContext, HookEvent, HookInput, HookJSONOutput

    from .client import TenterhookClient
    from .outcome import NativeReply

Ask = Callable[[Mapping[str, Any], Sequence[CallbackAnswer]], Awaitable[Output]]

GUARDED_EVENTS = (
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied"),
    *("UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure"),
    *("SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch"),
    *("Notification", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult"),
    *("ConfigChange", "InstructionsLoaded", "CwdChanged", "DirectoryAdded"),
)
"""The events of Claude Code that Tenterhook is asked about. Left out: `WorktreeCreate` and `WorktreeRemove` (a hook
there takes the place of git's own work), `FileChanged` (fires only for names given as a matcher) and `MessageDisplay`
(fires for every piece of text)."""

_GATES = ("PreToolUse", "PermissionRequest", "UserPromptSubmit")
"""Where something can be prevented: if Tenterhook cannot be asked, it does not happen."""
_DECIDING = (*_GATES, "UserPromptExpansion", "Stop", "SubagentStop", "PreCompact")
"""Where a callback can keep something from happening: its answer is part of Tenterhook's record of the event."""
_DEFAULT_CALLBACK_SECONDS = 60.0
"""How long a callback may take that does not say."""
_HOUR = 3600
"""Nobody waits longer: a time-out above it is in milliseconds, as older documents have it."""


def tenterhook_hooks(
    client: TenterhookClient,
    hooks: Mapping[Any, Sequence[HookMatcher]] | None = None,
    *,
    events: Iterable[str] = GUARDED_EVENTS,
    timeout: float = 60.0,
    on_failure: Literal["continue", "block"] = "block",
) -> dict[HookEvent, list[HookMatcher]]:
    """The `hooks` for `ClaudeAgentOptions`: every event goes through Tenterhook's policy, into its ledger and its live
    view, and your own callbacks work beside it. What they decide is part of the record, and an input that one of them
    changes is judged before it runs.

    ```python
    options = ClaudeAgentOptions(hooks=tenterhook_hooks(client))
    ```

    Args:
        client: Who is asked. It connects by itself.
        hooks: Callbacks of your own, beside Tenterhook's.
        events: The events that Tenterhook is asked about; all that make sense unless said.
        timeout: How long it may take, in seconds, as that SDK counts. An approval by a person fits into it.
        on_failure: Whether a gate holds when Tenterhook cannot be asked: `block` unless said.
    """
    from claude_agent_sdk import HookMatcher

    ask = _asker(client, on_failure, max(1, int(timeout * 900)))
    gatherer = AnswerGatherer()
    judged = cast("tuple[HookEvent, ...]", tuple(events))
    together: dict[HookEvent, list[HookMatcher]] = {}
    # The client calls entries in this order. Tenterhook's is last, so that it finds the callbacks that run beside it.
    for event, matchers in (hooks or {}).items():
        gathered = event in judged and event in _DECIDING
        together[event] = []
        number = 0
        for matcher in matchers:
            own: list[HookCallback] = []
            block = getattr(matcher, "on_failure", None) == "block"
            for callback in matcher.hooks:
                number += 1
                if gathered:
                    name = _name_of(callback, f"{event}-{number}")
                    own.append(_answering(event, _OwnCallback(callback, name, block), gatherer, ask))
                else:
                    own.append(_obedient(event, callback) if event in _GATES else callback)
            limit = _seconds(matcher.timeout)
            if limit is None and gathered:
                limit = _DEFAULT_CALLBACK_SECONDS
            together[event].append(replace(matcher, hooks=own, timeout=limit))
    for event in judged:
        entries = together.setdefault(event, [])
        longest = max((entry.timeout or 0 for entry in entries), default=0) if event in _DECIDING else 0
        entries.append(HookMatcher(hooks=[_guard(gatherer, ask)], timeout=timeout + longest))
    return together


def _guard(gatherer: AnswerGatherer, ask: Ask) -> HookCallback:
    async def guard(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        answers = await gatherer.collect(call_key(given, tool_use_id))
        return cast("HookJSONOutput", await ask(given, answers))

    return guard


def _obedient(event: str, callback: HookCallback) -> HookCallback:
    """A callback whose refusals are obeyed, at an event that Tenterhook is not asked about."""

    async def obedient(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        output = await callback(given, tool_use_id, context)
        return cast("HookJSONOutput", obeyed(event, as_sent(output)) if isinstance(output, dict) else output)

    return obedient


@dataclass(frozen=True)
class _OwnCallback:
    run: HookCallback
    name: str
    block: bool
    """Whether its failure refuses."""


def _answering(event: str, own: _OwnCallback, gatherer: AnswerGatherer, ask: Ask) -> HookCallback:
    """A callback whose answer becomes part of the record."""

    async def answering(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        announced = gatherer.announce(call_key(given, tool_use_id))
        began = time.monotonic()
        # The client does not run a tool whose callback took too long; then this task is cancelled.
        answer = CallbackAnswer(own.name, error="no answer in time", timed_out=True, block=True)
        try:
            output = await own.run(given, tool_use_id, context)
            if isinstance(output, dict):
                answer = CallbackAnswer(own.name, as_sent(output), block=own.block, duration=time.monotonic() - began)
            else:
                answer = CallbackAnswer(own.name, error="the callback returned nothing", block=own.block)
        except Exception as error:
            answer = CallbackAnswer(own.name, error=f"{type(error).__name__}: {error}", block=own.block)
            raise
        finally:
            announced.give(answer)
            if answer.output is None:
                announced.expire()
        if answer.output is None:
            return output
        said = obeyed(event, dict(answer.output))
        if await announced.was_collected():
            return cast("HookJSONOutput", residue(event, said))
        # Tenterhook's entry ran before this callback was called: this answer is a record of its own.
        return cast("HookJSONOutput", beside_reply(event, said, await ask(given, [answer])))

    return answering


def _asker(client: TenterhookClient, on_failure: str, timeout_ms: int) -> Ask:
    """Asks Tenterhook about an event, in Claude Code's own words. It gives up a little before Claude Code does."""

    async def ask(given: Mapping[str, Any], callbacks: Sequence[CallbackAnswer]) -> Output:
        event = given["hook_event_name"]
        outputs = [dict(answer.output) for answer in callbacks if answer.output is not None]
        try:
            outcome = await client.fire_native("claude-code", event, given, timeout_ms=timeout_ms, callbacks=callbacks)
        except TenterhookError as error:
            if on_failure == "block" and event in _GATES:
                return refusal(event, f"Tenterhook could not be asked: {error}")
            if left := unjudged(event, outputs):
                return left
            raise
        return with_permissions(_heard(event, outcome.reply), outputs) if outcome.reply else {}

    return ask


def _heard(event: str, reply: NativeReply) -> Output:
    """What Claude Code would have made of a hook program's exit."""
    if reply.exit_code != 0:
        return refusal(event, reply.stderr.strip() or "blocked")
    return cast("Output", json.loads(reply.stdout)) if reply.stdout.strip() else {}


def _name_of(callback: HookCallback, otherwise: str) -> str:
    """The name of a callback in records."""
    name = getattr(callback, "__name__", "")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:64] if name and name != "<lambda>" else otherwise


def _seconds(timeout: float | None) -> float | None:
    return timeout / 1000 if timeout is not None and timeout > _HOUR else timeout
