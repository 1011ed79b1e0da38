# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The client and a real daemon."""

from __future__ import annotations

import asyncio
import json

import pytest
from daemon import Daemon

from tenterhook import (
    EVENTS,
    HookResponse,
    PostToolUseEvent,
    PreToolUseEvent,
    RefusedError,
    TenterhookClient,
    ToolErrorEvent,
)

BASH = PreToolUseEvent(session_id="s", tool="Bash", args={"command": "ls"})


def bash(command):
    return PreToolUseEvent(session_id="s", tool="Bash", args={"command": command})


async def allow(event):
    return HookResponse.continue_()


@pytest.mark.parametrize("name", EVENTS)
async def test_every_event_reaches_its_hook_as_its_own_class(daemon, name):
    heard = []
    async with daemon.client() as client:
        client.register_hook(name, heard.append)
        await client.ready()
        fields = {"tool": "Bash", "args": {"command": "ls"}} if hasattr(EVENTS[name], "tool") else {}
        outcome = await client.fire(EVENTS[name](session_id="s7", **fields), source="my-agent")
        assert not outcome.blocked
    (event,) = heard
    assert type(event) is EVENTS[name]
    assert (event.session_id, event.metadata["eventId"], event.metadata["source"]) == (
        "s7",
        outcome.event_id,
        "my-agent",
    )
    assert event.timestamp > 1_700_000_000_000


async def test_a_decision_is_recorded_with_the_hook_that_made_it(daemon):
    async with daemon.client(name="guard/1") as client:
        hook_id = client.register_hook("PreToolUse", lambda event: HookResponse.block("no"), hook_id="no-bash")
        await client.ready()
        outcome = await client.fire(BASH)
        assert (outcome.blocked, outcome.decision, outcome.reason) == (True, "deny", "no")
    (leaf,) = [leaf for leaf in daemon.leaves() if leaf["id"] == outcome.event_id]
    assert (leaf["verdict"], leaf["reason"], leaf["source"]) == ("deny", "no", "sdk")
    assert [step["by"] for step in leaf["trace"] if step.get("decision") == "deny"] == [f"hook:{hook_id}"]


async def test_rules_apply_without_hooks(daemon):
    async with daemon.client() as client:
        outcome = await client.fire(bash("rm -rf /"))
    assert outcome.blocked
    assert outcome.reason


async def test_a_changed_input_is_judged_as_it_would_run(daemon):
    async with daemon.client() as client:
        client.register_hook("PreToolUse", lambda event: HookResponse.modified(args={"command": "rm -rf /"}))
        await client.ready()
        assert (await client.fire(BASH)).blocked


# seed: 003-063
async def test_changes_of_several_hooks_are_merged(daemon):
    def changes(**changed):
        return lambda event: HookResponse.modified(args={**event.args, **changed})

    async with daemon.client() as client:
        ids = [client.register_hook("PreToolUse", changes(timeout=30000), config={"priority": 1})]
        ids.append(client.register_hook("PreToolUse", changes(description="why"), config={"priority": 2}))
        await client.ready()
        outcome = await client.fire(bash("echo x"))
        expected = {"command": "echo x", "timeout": 30000, "description": "why"}
        assert (outcome.action, outcome.modified) == ("continue", {"args": expected})

        ids.append(client.register_hook("PreToolUse", changes(timeout=1), config={"priority": 3}))
        await client.ready()
        outcome = await client.fire(bash("echo x"))
        assert outcome.modified == {"args": {**expected, "timeout": 1}}
        (leaf,) = [leaf for leaf in daemon.leaves() if leaf["id"] == outcome.event_id]
        notes = {step["by"]: step.get("note") for step in leaf["trace"] if step["by"].startswith("hook:")}
        assert notes == {
            f"hook:{ids[0]}": None,
            f"hook:{ids[1]}": None,
            f"hook:{ids[2]}": f"conflict: `args.timeout` (changed by `{ids[0]}`); the value of this hook is used",
        }

        client.register_hook("PreToolUse", changes(command="rm -rf /"), config={"priority": 0})
        await client.ready()
        assert (await client.fire(bash("echo x"))).blocked, "the merged call is judged"


async def test_unregistered_hooks_are_gone_when_the_client_is_closed(daemon):
    async with daemon.client() as client:
        ids = [
            client.register_hook("PreToolUse", allow, config={"fail_behavior": "block"}, hook_id=f"h{n}")
            for n in range(8)
        ]
        await client.ready()
        for hook_id in ids:
            client.unregister_hook(hook_id)
    async with daemon.client() as client:
        assert await client.list_all_hooks() == []
        assert not (await client.fire(BASH)).blocked


# seed: 003-016
async def test_a_failed_tool_is_a_result_without_success(daemon):
    heard = []
    async with daemon.client() as client:
        client.register_hook("PostToolUse", lambda event: heard.append((event.result.success, event.result.output)))
        client.register_hook("ToolError", lambda event: heard.append(event.error))
        await client.ready()
        await client.fire(ToolErrorEvent(session_id="s", tool="Bash", args={"command": "ls"}, error="boom"))
    assert sorted(heard, key=str) == [(False, "boom"), "boom"]


async def test_hooks_run_in_order_and_skip_skips_the_later_ones(daemon):
    async with daemon.client() as client:
        client.register_hook("PreToolUse", lambda event: HookResponse.block("third"), config={"priority": 3})
        client.register_hook("PreToolUse", lambda event: HookResponse.skip(), config={"priority": 2})
        client.register_hook(
            "PreToolUse", lambda event: HookResponse.modified(args={"command": "ls -l"}), config={"priority": 1}
        )
        await client.ready()
        outcome = await client.fire(BASH)
    assert (outcome.blocked, outcome.modified) == (False, {"args": {"command": "ls -l"}})


async def test_retry_calls_again_and_then_gives_up(daemon):
    asked = []

    def busy(event):
        asked.append(event)
        return HookResponse.continue_() if len(asked) == 2 else HookResponse.retry(10)

    async with daemon.client() as client:
        client.register_hook("PreToolUse", busy)
        await client.ready()
        assert not (await client.fire(BASH)).blocked
        assert len(asked) == 2
        client.register_hook("ToolError", lambda event: HookResponse.retry(1))
        await client.ready()
        event = ToolErrorEvent(session_id="s", tool="Bash", args={"command": "ls"}, error="boom")
        again = await client.fire(event)
        assert (again.action, again.blocked, again.retry_delay_ms) == ("retry", False, 1)


@pytest.mark.parametrize(
    ("event", "said", "why"),
    [
        ("PreToolUse", HookResponse.modified(command="ls"), "args"),
        ("PreToolUse", HookResponse.modified(args=7), "args"),
        ("SessionEnd", HookResponse.modified(args={}), "modified"),
    ],
)
@pytest.mark.parametrize("fails", ["continue", "block"])
async def test_an_invalid_answer_is_a_failure(daemon, event, said, why, fails):
    async with daemon.client() as client:
        client.register_hook(event, lambda _: said, config={"fail_behavior": fails})
        await client.ready()
        fields = {"tool": "Bash", "args": {"command": "ls"}} if event == "PreToolUse" else {}
        outcome = await client.fire(EVENTS[event](session_id="s", **fields))
    failed = [step for step in outcome.outcome["trace"] if step["status"] == "failed"]
    assert failed, outcome.outcome
    assert why in failed[0]["note"]
    if event == "PreToolUse":
        assert outcome.blocked is (fails == "block")


async def test_a_client_has_only_its_own_hooks(daemon):
    async with daemon.client(name="one") as one, daemon.client(name="two") as two:
        first = one.register_hook("PreToolUse", allow, hook_id="first", matcher={"tool": "Bash"})
        second = two.register_hook("Stop", allow, hook_id="second", config={"priority": 7, "fail_behavior": "block"})
        await one.ready()
        await two.ready()
        assert [hook.hook_id for hook in one.list_hooks()] == [first]
        seen = {hook.hook_id: (hook.own, hook.client_name, hook.connected) for hook in await one.list_all_hooks()}
        assert seen == {first: (True, "one", True), second: (False, "two", True)}
        listed = next(hook for hook in await one.list_all_hooks() if hook.hook_id == second)
        assert (listed.config["priority"], listed.config["fail_behavior"]) == (7, "block")
        assert await one.unregister_hook(second) is False
        one.register_hook("Stop", allow, hook_id=second)
        with pytest.raises(RefusedError) as taken:
            await one.ready()
        assert taken.value.code == "already-exists"
        assert await two.unregister_hook(second) is True


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"event": "PreToolUze"}, "invalid"),
        ({"event": "PreToolUse", "matcher": {"command_pattern": "(x"}}, "invalid"),
        ({"event": "PreToolUse", "config": {"timeout_ms": 700_000}}, "invalid"),
    ],
)
async def test_ready_raises_what_the_daemon_refuses(daemon, arguments, code):
    client = daemon.client()
    client.register_hook(arguments.pop("event"), allow, **arguments)
    with pytest.raises(RefusedError) as refused:
        await client.ready()
    assert refused.value.code == code
    await client.close()


async def test_ten_hooks_of_an_event_and_no_more(daemon):
    async with daemon.client() as client:
        for _ in range(10):
            client.register_hook("PreToolUse", allow)
        await client.ready()
        eleventh = client.register_hook("PreToolUse", allow)
        with pytest.raises(RefusedError, match="maxHooksPerEvent 10 exceeded") as refused:
            await client.ready()
        assert refused.value.code == "limit"
        client.unregister_hook(eleventh)
        await client.ready()


async def test_the_audit_level_goes_up_and_not_down_without_proof(daemon):
    async with daemon.client() as client:
        assert await client.set_hook_audit_level("verbose") == "info"
        assert await client.set_hook_audit_level("verbose") == "verbose"
        with pytest.raises(RefusedError) as refused:
            await client.set_hook_audit_level("off")
        assert refused.value.code == "refused"
        with pytest.raises(RefusedError):
            await client.set_hook_audit_level("info", code="000000")


async def test_watching(daemon):
    async with daemon.client() as client:
        news = client.watch("decided", session_id="mine")
        first = asyncio.ensure_future(anext(news))
        await asyncio.sleep(0.3)
        await client.fire(PreToolUseEvent(session_id="other", tool="Bash", args={"command": "ls"}))
        await client.fire(PreToolUseEvent(session_id="mine", tool="Bash", args={"command": "pwd"}))
        event = await asyncio.wait_for(first, 10)
        await news.aclose()
    assert (event.kind, event.data["session"], event.data["tool"]["gist"]) == ("decided", "mine", "pwd")


async def test_files_and_lists(daemon):
    files, lists = [], []

    async def on_list(update):
        lists.append([(todo.content, todo.status) for todo in update.todos])

    async with daemon.client() as client:
        end_files = client.on_file_changed(lambda changed: files.append((changed.conversation_id, changed.file)))
        client.on_todo_update(on_list)
        assert client.list_hooks() == []
        await client.ready()

        async def ran(tool, **args):
            await client.fire(PostToolUseEvent(session_id="s", tool=tool, args=args))

        await ran("Write", file_path="/tmp/a.py", content="")
        await ran("TodoWrite", todos=[{"content": "a", "status": "in_progress"}])
        while not (files and lists):
            await asyncio.sleep(0.01)
        end_files()
        await ran("Write", file_path="/tmp/b.py", content="")
        await ran("TodoWrite", todos=[{"content": "a", "status": "completed"}])
        while len(lists) < 2:
            await asyncio.sleep(0.01)
    assert files == [("s", "/tmp/a.py")]
    assert lists == [[("a", "in_progress")], [("a", "completed")]]


async def test_a_harness_s_own_format(daemon):
    payload = {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": str(daemon.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /"},
        "tool_use_id": "t1",
    }
    async with daemon.client() as client:
        outcome = await client.fire_native("claude-code", "PreToolUse", payload)
    assert outcome.reply is not None
    said = json.loads(outcome.reply.stdout)["hookSpecificOutput"]
    assert (outcome.reply.exit_code, said["permissionDecision"]) == (0, "deny")


async def test_over_tcp_with_the_token(place):
    with Daemon(place, listen="127.0.0.1:0") as daemon:
        listen = json.loads((daemon.home / "run/daemon.json").read_text())["listen"]
        async with TenterhookClient(home=daemon.home, address=listen) as client:
            client.register_hook("PreToolUse", lambda event: HookResponse.block("no"))
            await client.ready()
            assert (await client.fire(BASH)).blocked
        stranger = TenterhookClient(address=listen, token="0" * 64)
        with pytest.raises(RefusedError) as refused:
            await stranger.ready()
        assert refused.value.code == "unauthenticated"
        await stranger.close()


async def test_a_home_with_blanks_and_quotes(place):
    odd = place / 'it\'s a "home" %41'
    odd.mkdir()
    with Daemon(odd) as daemon:
        async with daemon.client() as client:
            assert not (await client.fire(BASH)).blocked
