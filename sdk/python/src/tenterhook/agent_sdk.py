# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tenterhook for programs that are built on the Claude Agent SDK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from .errors import TenterhookError

if TYPE_CHECKING:
    from claude_agent_sdk import HookMatcher
    from claude_agent_sdk.types import HookCallback, HookContext, HookEvent, HookInput, HookJSONOutput

    from .client import TenterhookClient
    from .outcome import NativeReply

_EVENTS: tuple[HookEvent, ...] = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "PermissionRequest",
)


def tenterhook_hooks(
    client: TenterhookClient,
    hooks: Mapping[HookEvent, Sequence[HookMatcher]] | None = None,
    *,
    events: Iterable[HookEvent] = _EVENTS,
    timeout: float = 60.0,
    on_failure: Literal["continue", "block"] = "block",
) -> dict[HookEvent, list[HookMatcher]]:
    """The `hooks` for `ClaudeAgentOptions`: everything the agent does is judged, recorded and can be watched.

    ```python
    options = ClaudeAgentOptions(hooks=tenterhook_hooks(client))
    ```

    Args:
        client: Who is asked. It connects by itself.
        hooks: Your own callbacks; they work beside ours. The agent hears the strictest of all.
        events: What is judged and recorded, if not all that the SDK knows.
        timeout: Seconds that a decision may take, as everywhere in that SDK. An approval by a person counts.
        on_failure: What it means that nobody decides, because no daemon runs, say: `block` the tool, or `continue`.
    """
    from claude_agent_sdk import HookMatcher

    # The daemon gives up first, so that its answer says why.
    callback = _guard(client, timeout_ms=max(1, int(timeout * 900)))
    together: dict[HookEvent, list[HookMatcher]] = {}
    for event in events:
        together[event] = [HookMatcher(hooks=[callback], timeout=timeout, on_failure=on_failure)]
    for event, matchers in (hooks or {}).items():
        together.setdefault(event, []).extend(matchers)
    return together


def _guard(client: TenterhookClient, timeout_ms: int) -> HookCallback:
    async def guard(given: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        event = given["hook_event_name"]
        outcome = await client.fire_native("claude-code", event, cast("Any", given), timeout_ms=timeout_ms)
        if outcome.reply is None:
            raise TenterhookError("the daemon gave no reply for Claude Code", hint="update it")
        return cast("HookJSONOutput", _output(event, outcome.reply))

    return guard


def _output(event: str, reply: NativeReply) -> dict[str, Any]:
    """What a hook process would have said, as a callback says it."""
    if reply.exit_code == 0:
        return cast("dict[str, Any]", json.loads(reply.stdout)) if reply.stdout.strip() else {}
    reason = reply.stderr.strip() or "blocked"
    if event == "PreToolUse":
        decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": event, **decision}}
    return {"decision": "block", "reason": reason}
