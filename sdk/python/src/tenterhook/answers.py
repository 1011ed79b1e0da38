# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Converts the answers of Claude Agent SDK callbacks into the form that Claude Code obeys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Output = dict[str, Any]

_SENT_AS = {"continue_": "continue", "async_": "async"}
_CARRIED_BY_REPLY = ("systemMessage", "suppressOutput", "hookSpecificOutput")
_CARRIED_BY_SPECIFIC_REPLY = ("additionalContext", "updatedInput")


def as_sent(output: Any) -> Output:
    """Returns the answer with the JSON names `continue` and `async`, which are keywords in Python."""
    given: Output = output if isinstance(output, dict) else {}
    return {_SENT_AS.get(key, key): value for key, value in given.items()}


def specific_of(output: Output) -> Output:
    """Returns `hookSpecificOutput` of an answer."""
    specific = output.get("hookSpecificOutput")
    return specific if isinstance(specific, dict) else {}


def refusal(event: str, reason: str) -> Output:
    """Returns an answer that blocks the action."""
    if event == "PreToolUse":
        said = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": event, **said}}
    if event == "PermissionRequest":
        decision = {"behavior": "deny", "message": reason}
        return {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}
    return {"decision": "block", "reason": reason}


def obeyed(event: str, output: Output) -> Output:
    """Rewrites a callback's answer so that the client (Claude Code) obeys it. Without the rewrite, the client would
    run the tool in spite of `continue: false` in `PreToolUse`, and would ignore `decision: "block"` in
    `PermissionRequest`."""
    if output.get("async"):
        return output
    specific = specific_of(output)
    stops = output.get("continue") is False
    if event == "PreToolUse" and stops and specific.get("permissionDecision") != "deny":
        reason = output.get("stopReason") or output.get("reason") or "stopped by a callback"
        return {**output, "hookSpecificOutput": {**specific, **specific_of(refusal(event, reason))}}
    blocks = stops or output.get("decision") == "block"
    if event == "PermissionRequest" and blocks and _behavior(specific) != "deny":
        message = output.get("reason") or output.get("stopReason")
        decision = {"behavior": "deny", **({"message": message} if message else {})}
        decision |= {"interrupt": True} if stops else {}
        return {**output, "hookSpecificOutput": {**specific, "hookEventName": event, "decision": decision}}
    return output


def residue(event: str, output: Output) -> Output:
    """Returns the part of a callback's answer that the callback itself sends to the client. Tenterhook's own entry in
    the `hooks` option sends the combined reply. Both send a refusal, so that it cannot be lost. Parts that must not
    be applied twice are left out here."""
    if output.get("async"):
        return output
    rest = {key: value for key, value in output.items() if key not in _CARRIED_BY_REPLY}
    specific = {key: value for key, value in specific_of(output).items() if key not in _CARRIED_BY_SPECIFIC_REPLY}
    if event == "PermissionRequest":
        if _behavior(specific) == "allow":
            del specific["decision"]
        if rest.get("decision") == "approve":
            del rest["decision"]
    return {**rest, "hookSpecificOutput": specific} if specific.keys() - {"hookEventName"} else rest


def beside_reply(event: str, output: Output, reply: Output) -> Output:
    """Merges Tenterhook's reply with the answer of a single callback. A refusal by the callback stays in effect."""
    own = residue(event, output)
    if own.get("async"):
        return reply or own
    specific = {**specific_of(own), **specific_of(reply)}
    return {**own, **reply, **({"hookSpecificOutput": specific} if specific else {})}


def with_permissions(reply: Output, outputs: Iterable[Output]) -> Output:
    """Adds the permission rules of callbacks that allowed the request to Tenterhook's reply, which lacks them."""
    specific = specific_of(reply)
    if _behavior(specific) != "allow":
        return reply
    allowed = [specific_of(output)["decision"] for output in outputs if _behavior(specific_of(output)) == "allow"]
    added = [rule for decision in allowed for rule in decision.get("updatedPermissions") or ()]
    if not added:
        return reply
    decision = {**specific["decision"], "updatedPermissions": added}
    return {**reply, "hookSpecificOutput": {**specific, "decision": decision}}


def unjudged(event: str, outputs: Iterable[Output]) -> Output:
    """Returns the reply if Tenterhook is unreachable. It contains the parts of the callbacks' answers that Tenterhook's
    reply would have contained."""
    answers = [output for output in outputs if not output.get("async")]
    specifics = [specific_of(answer) for answer in answers]
    said: Output = {}
    if context := _joined(specific.get("additionalContext") for specific in specifics):
        said["additionalContext"] = context
    for specific in specifics:
        if "updatedInput" in specific:
            said["updatedInput"] = specific["updatedInput"]
        if _behavior(specific) == "allow":
            said["decision"] = specific["decision"]
    left: Output = {"hookSpecificOutput": {"hookEventName": event, **said}} if said else {}
    if message := _joined(answer.get("systemMessage") for answer in answers):
        left["systemMessage"] = message
    return left


def _behavior(specific: Output) -> Any:
    decision = specific.get("decision")
    return decision.get("behavior") if isinstance(decision, dict) else None


def _joined(texts: Iterable[str | None]) -> str:
    return "\n".join(text for text in texts if text)
