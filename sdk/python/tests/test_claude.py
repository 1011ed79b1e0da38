# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The callbacks for the Agent SDK, called in the same way as by the Agent SDK. e2e/ runs the real one."""

from __future__ import annotations

import asyncio

import pytest
from claude_agent_sdk import HookMatcher

from tenterhook import GUARDED_EVENTS, NativeReply, TenterhookError, tenterhook_hooks
from tenterhook.claude import interpret_reply


def given(event, **fields):
    base = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/tmp", "hook_event_name": event}
    return {**base, **fields}


def bash(command, event="PreToolUse", **fields):
    return given(event, tool_name="Bash", tool_input={"command": command}, tool_use_id="t1", **fields)


async def call(hooks, asked):
    """Calls every callback of an event at once, as the client does."""
    callbacks = [callback for entry in hooks[asked["hook_event_name"]] for callback in entry.hooks]
    return await asyncio.gather(*(callback(asked, None, {"signal": None}) for callback in callbacks))


def answering(client, event, *outputs, **options):
    """Hooks of a program whose callbacks give these answers."""

    def callback(output):
        return lambda *_: asyncio.sleep(0, output)

    own = {event: [HookMatcher(hooks=[callback(output) for output in outputs])]}
    return tenterhook_hooks(client, own, **options)


def specific(event, **fields):
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def decisions(daemon, session="s"):
    return daemon.leaves("--kind", "decision", "--session", session)


async def test_every_event_has_one_entry_of_tenterhook_and_it_is_last(daemon):
    async with daemon.client() as client:
        hooks = answering(client, "PreToolUse", {})
        assert set(hooks) == set(GUARDED_EVENTS)
        assert [entry.timeout for entry in hooks["PreToolUse"]] == [60, 120]
        assert await call(hooks, bash("ls")) == [{}, {}]


async def test_a_deny_of_a_callback_is_recorded_once_with_its_name(daemon):
    async def block_dangerous(asked, tool_use_id, context):
        denied = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="Dangerous")
        return {**denied, "systemMessage": "careful"}

    async def quiet(asked, tool_use_id, context):
        return {"continue_": True}

    own = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[quiet, block_dangerous])]}
    async with daemon.client() as client:
        outputs = await call(tenterhook_hooks(client, own), bash("touch x"))
    assert outputs[0] == {"continue": True}
    for output in outputs[1:]:
        assert output["hookSpecificOutput"]["permissionDecisionReason"] == "Dangerous"
    assert ["systemMessage" in output for output in outputs] == [False, False, True]
    (record,) = decisions(daemon)
    assert (record["verdict"], record["reason"]) == ("deny", "Dangerous")
    assert [step["by"] for step in record["trace"][:2]] == ["hook:callback:quiet", "hook:callback:block_dangerous"]


async def test_a_changed_input_is_judged_and_is_one_record(daemon):
    async with daemon.client() as client:
        changed = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "pwd"})
        own, reply = await call(answering(client, "PreToolUse", changed), bash("ls"))
        assert own == specific("PreToolUse", permissionDecision="allow")
        assert reply["hookSpecificOutput"]["updatedInput"] == {"command": "pwd"}
        assert len(decisions(daemon)) == 1
        spoiled = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "rm -rf /"})
        _, reply = await call(answering(client, "PreToolUse", spoiled), bash("ls"))
        assert reply["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert "updatedInput" not in reply["hookSpecificOutput"]


# seed: 000-013, 000-028
async def test_answers_that_the_client_ignores_are_given_in_a_form_that_it_obeys(daemon):
    async with daemon.client() as client:
        stop = {"continue_": False, "stopReason": "enough"}
        for output in await call(answering(client, "PreToolUse", stop), bash("ls")):
            assert (output["continue"], output["stopReason"]) == (False, "enough")
            assert output["hookSpecificOutput"]["permissionDecision"] == "deny"
        block = {"decision": "block", "reason": "not now"}
        asked = bash("ls", "PermissionRequest")
        for output in await call(answering(client, "PermissionRequest", block), asked):
            assert output["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "not now"}
        (alone,) = await call(answering(client, "PermissionRequest", block, events=()), asked)
        assert alone["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_a_permission_and_the_rules_it_adds_are_given_once(daemon):
    async with daemon.client() as client:
        rules = [{"type": "addRules"}]
        allow = {"behavior": "allow", "updatedInput": {"command": "pwd"}, "updatedPermissions": rules}
        given = specific("PermissionRequest", decision=allow)
        outputs = await call(answering(client, "PermissionRequest", given), bash("ls", "PermissionRequest"))
    assert outputs == [{}, given]


async def test_a_callback_that_fails_or_hangs_is_recorded(daemon):
    async def fails(asked, tool_use_id, context):
        raise ValueError("oh no")

    async def hangs(asked, tool_use_id, context):
        await asyncio.sleep(60)

    async with daemon.client() as client:
        for callback, expected in ((fails, ("failed", "none")), (hangs, ("timed-out", "deny"))):
            hooks = tenterhook_hooks(client, {"PreToolUse": [HookMatcher(hooks=[callback])]})
            own, guard = (entry.hooks[0] for entry in hooks["PreToolUse"])
            running = asyncio.ensure_future(own(bash("ls"), None, {"signal": None}))
            asked = asyncio.ensure_future(guard(bash("ls"), None, {"signal": None}))
            await asyncio.sleep(0.01)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await asked
            step = decisions(daemon)[-1]["trace"][0]
            assert (step["status"], step.get("decision", "none")) == expected


async def test_a_callback_that_runs_after_tenterhook_s_entry_gets_its_own_record(daemon):
    async with daemon.client() as client:
        ask = specific("PreToolUse", permissionDecision="ask")
        own, guard = (entry.hooks[0] for entry in answering(client, "PreToolUse", ask)["PreToolUse"])
        assert await guard(bash("ls"), None, {"signal": None}) == {}
        output = await own(bash("ls"), None, {"signal": None})
        assert output["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert [record["verdict"] for record in decisions(daemon)] == ["none", "ask"]


async def test_without_a_daemon_the_answers_of_callbacks_still_count(daemon):
    daemon.end()
    client = daemon.client(connect_timeout=0.2)
    context = specific("UserPromptSubmit", additionalContext="noon")
    asked = given("UserPromptSubmit", prompt="p")
    opened = answering(client, "UserPromptSubmit", context, on_failure="continue")
    assert await call(opened, asked) == [{}, context]
    held = await call(answering(client, "UserPromptSubmit", context), asked)
    assert held[1]["decision"] == "block"
    with pytest.raises(TenterhookError):
        await call(answering(client, "Stop", {}), given("Stop", stop_hook_active=False))
    await client.close()


def test_only_exit_code_2_refuses_and_other_codes_are_failures():
    def reply(exit_code, stdout="", stderr=""):
        return interpret_reply("PreToolUse", NativeReply(stdout, stderr, exit_code))

    denied = reply(2, stderr="no\n")
    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert denied["hookSpecificOutput"]["permissionDecisionReason"] == "no"
    assert (reply(0), reply(0, '{"a": 1}\n')) == ({}, {"a": 1})
    for exit_code, stdout in [(1, ""), (1, '{"a": 1}'), (127, ""), (0, "no JSON"), (0, "[1]")]:
        with pytest.raises(TenterhookError, match="the reply"):
            reply(exit_code, stdout)
