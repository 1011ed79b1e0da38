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
"""The events of Claude Code that are sent to Tenterhook. Not included: `WorktreeCreate` and `WorktreeRemove` (a hook
for them replaces the work of git), `FileChanged` (fires only for file names given as a matcher) and `MessageDisplay`
(fires for every chunk of text)."""

_GATES = ("PreToolUse", "PermissionRequest", "UserPromptSubmit")
"""Events before an action: if Tenterhook cannot be reached, the action is blocked."""
_DECIDING = (*_GATES, "UserPromptExpansion", "Stop", "SubagentStop", "PreCompact")
"""Events in which a callback can block an action. Its answer becomes part of Tenterhook's record of the event."""
_DEFAULT_CALLBACK_SECONDS = 60.0
"""Default time limit of a callback, in seconds."""
_REFUSAL_EXIT_CODE = 2
"""Exit code with which a hook program refuses the action."""
_MAX_TIMEOUT_SECONDS = 3600
"""Largest timeout that is read as seconds. Larger numbers are read as milliseconds, as in older documentation."""


def tenterhook_hooks(
    client: TenterhookClient,
    hooks: Mapping[Any, Sequence[HookMatcher]] | None = None,
    *,
    events: Iterable[str] = GUARDED_EVENTS,
    timeout: float = 60.0,
    on_failure: Literal["continue", "block"] = "block",
) -> dict[HookEvent, list[HookMatcher]]:
    """Returns the `hooks` for `ClaudeAgentOptions`. Every event is checked by Tenterhook's policy and recorded in its
    ledger. Your own callbacks run as well, and their decisions are part of the record. If a callback changes the
    input of a call, the changed call is checked before it runs.

    ```python
    options = ClaudeAgentOptions(hooks=tenterhook_hooks(client))
    ```

    Args:
        client: Client of the daemon. It connects on first use.
        hooks: Your own callbacks, in addition to Tenterhook's.
        events: Events that are sent to Tenterhook; defaults to `GUARDED_EVENTS`.
        timeout: How long Tenterhook may take for an event, in seconds. This includes waiting for the user's approval.
        on_failure: Whether an action is blocked or continues if Tenterhook cannot be reached; defaults to `block`.
    """
    from claude_agent_sdk import HookMatcher

    ask = _asker(client, on_failure, max(1, int(timeout * 900)))
    gatherer = AnswerGatherer()
    judged = cast("tuple[HookEvent, ...]", tuple(events))
    together: dict[HookEvent, list[HookMatcher]] = {}
    # The client calls the entries in their order. Tenterhook's entry is last, so that it can collect the callbacks'
    # answers.
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
    """Wraps a callback of an event that is not sent to Tenterhook, so that the client obeys its refusals."""

    async def obedient(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        output = await callback(given, tool_use_id, context)
        return cast("HookJSONOutput", obeyed(event, as_sent(output)) if isinstance(output, dict) else output)

    return obedient


@dataclass(frozen=True)
class _OwnCallback:
    run: HookCallback
    name: str
    block: bool
    """Whether a failure blocks the action."""


def _answering(event: str, own: _OwnCallback, gatherer: AnswerGatherer, ask: Ask) -> HookCallback:
    """Wraps a callback so that its answer becomes part of the record."""

    async def answering(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        announced = gatherer.announce(call_key(given, tool_use_id))
        began = time.monotonic()
        # Used if the callback times out: the client then cancels this task and does not run the tool.
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
        # Tenterhook's entry did not collect this answer: it ran before this callback was called. So the answer gets
        # its own record.
        return cast("HookJSONOutput", beside_reply(event, said, await ask(given, [answer])))

    return answering


def _asker(client: TenterhookClient, on_failure: str, timeout_ms: int) -> Ask:
    """Returns a function that sends an event to Tenterhook in Claude Code's own format, with a slightly shorter time
    limit than Claude Code's."""

    async def ask(given: Mapping[str, Any], callbacks: Sequence[CallbackAnswer]) -> Output:
        event = given["hook_event_name"]
        outputs = [dict(answer.output) for answer in callbacks if answer.output is not None]
        try:
            outcome = await client.fire_native("claude-code", event, given, timeout_ms=timeout_ms, callbacks=callbacks)
            reply = interpret_reply(event, outcome.reply) if outcome.reply else None
        except TenterhookError as error:
            if on_failure == "block" and event in _GATES:
                return refusal(event, f"Tenterhook could not be reached: {error}")
            if left := unjudged(event, outputs):
                return left
            raise
        return {} if reply is None else with_permissions(reply, outputs)

    return ask


def interpret_reply(event: str, reply: NativeReply) -> Output:
    """Interprets the exit code and output of a hook program in the same way as Claude Code: exit code 2 refuses, and
    any other code except 0 is a failure, like output that is not a JSON object."""
    if reply.exit_code == _REFUSAL_EXIT_CODE:
        return refusal(event, reply.stderr.strip() or "blocked")
    if reply.exit_code != 0:
        raise TenterhookError(f"the reply has exit code {reply.exit_code}: {reply.stderr.strip()}")
    if not reply.stdout.strip():
        return {}
    try:
        output = json.loads(reply.stdout)
    except ValueError as error:
        raise TenterhookError(f"the reply is not JSON: {error}") from error
    if not isinstance(output, dict):
        raise TenterhookError("the reply is not a JSON object")
    return cast("Output", output)


def _name_of(callback: HookCallback, otherwise: str) -> str:
    """Returns the name of a callback in records."""
    name = getattr(callback, "__name__", "")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:64] if name and name != "<lambda>" else otherwise


def _seconds(timeout: float | None) -> float | None:
    return timeout / 1000 if timeout is not None and timeout > _MAX_TIMEOUT_SECONDS else timeout
