# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tenterhook for programs that are built on the Claude Agent SDK."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from .errors import TenterhookError

if TYPE_CHECKING:
    from claude_agent_sdk import HookMatcher
    from claude_agent_sdk.types import HookCallback, HookContext, HookEvent, HookInput, HookJSONOutput

    from .client import TenterhookClient
    from .outcome import NativeReply

Output = dict[str, Any]
Ask = Callable[[Mapping[str, Any]], Awaitable[Output]]

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
    view, and your own callbacks work beside it. An input that one of them changes is judged before it runs.

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
    judged = cast("tuple[HookEvent, ...]", tuple(events))
    together = {event: [HookMatcher(hooks=[_guard(ask)], timeout=timeout)] for event in judged}
    for event, matchers in (hooks or {}).items():
        for matcher in matchers:
            own = [_judging(callback, ask) for callback in matcher.hooks] if event in judged else matcher.hooks
            together.setdefault(event, []).append(replace(matcher, hooks=own, timeout=_seconds(matcher.timeout)))
    return together


def _guard(ask: Ask) -> HookCallback:
    async def guard(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        return cast("HookJSONOutput", await ask(given))

    return guard


def _judging(callback: HookCallback, ask: Ask) -> HookCallback:
    """A callback whose changes are judged: what was asked about is not what would run."""

    async def judging(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        output = await callback(given, tool_use_id, context)
        updated = _updated_input(cast("Output", output))
        if updated is None:
            return output
        verdict = await ask({**given, "tool_input": updated})
        return cast("HookJSONOutput", verdict) if _objects(verdict) or _updated_input(verdict) else output

    return judging


def _asker(client: TenterhookClient, on_failure: str, timeout_ms: int) -> Ask:
    """Asks Tenterhook about an event, in Claude Code's own words. It gives up a little before Claude Code does."""

    async def ask(given: Mapping[str, Any]) -> Output:
        event = given["hook_event_name"]
        try:
            outcome = await client.fire_native("claude-code", event, given, timeout_ms=timeout_ms)
        except TenterhookError as error:
            if on_failure == "continue" or event not in _GATES:
                raise
            return _refusal(event, f"Tenterhook could not be asked: {error}")
        return _heard(event, outcome.reply) if outcome.reply else {}

    return ask


def _heard(event: str, reply: NativeReply) -> Output:
    """What Claude Code would have made of a hook program's exit."""
    if reply.exit_code != 0:
        return _refusal(event, reply.stderr.strip() or "blocked")
    return cast("Output", json.loads(reply.stdout)) if reply.stdout.strip() else {}


def _refusal(event: str, reason: str) -> Output:
    if event == "PreToolUse":
        said = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": event, **said}}
    if event == "PermissionRequest":
        decision = {"behavior": "deny", "message": reason}
        return {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}
    return {"decision": "block", "reason": reason}


def _specific(output: Output) -> Output:
    specific = output.get("hookSpecificOutput") if isinstance(output, dict) else None
    return specific if isinstance(specific, dict) else {}


def _updated_input(output: Output) -> Any:
    specific = _specific(output)
    decision = specific.get("decision")
    return specific.get("updatedInput") or (decision.get("updatedInput") if isinstance(decision, dict) else None)


def _objects(verdict: Output) -> bool:
    specific = _specific(verdict)
    decision = specific.get("decision")
    return (
        verdict.get("decision") == "block"
        or verdict.get("continue") is False
        or specific.get("permissionDecision", "allow") != "allow"
        or (isinstance(decision, dict) and decision.get("behavior") == "deny")
    )


def _seconds(timeout: float | None) -> float | None:
    return timeout / 1000 if timeout is not None and timeout > _HOUR else timeout
