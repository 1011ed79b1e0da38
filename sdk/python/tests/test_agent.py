# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The daemon's agent, with a real daemon."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path

import pytest

from tenterhook import HookResponse, RefusedError, ToolErrorEvent


@pytest.fixture
def session(daemon):
    """Starts a session that only hooks and rules restrict; with turns, it has a model that follows them."""

    async def begin(client, *turns, **options):
        script = daemon.project.parent / "script.yaml"
        script.write_text(json.dumps({"turns": turns}))
        model = {"provider": "scripted", "script": str(script)} if turns else None
        options = {"permission_mode": "bypassPermissions", "model": model, **options}
        return await client.create_session(daemon.project, **options)

    return begin


def bash(command):
    return {"call": {"Bash": {"command": command}}}


# seed: 003-026
async def test_a_turn_can_be_run_to_its_end_or_step_by_step(daemon, session):
    async with daemon.client() as client:
        session_id = await session(client, bash("echo here"), bash("rm -rf /"), {"say": "Done."})
        steps = [step async for step in client.generate_stream(session_id, "Go") if step.type != "moment"]
        assert [step.type for step in steps] == [
            *["tool_call", "tool_result"] * 2,
            "draft",
            "text",
            "done",
        ]
        assert steps[0].call.args == {"command": "echo here"}
        assert (steps[1].denied, steps[1].result.output) == (False, "here\n")
        assert (steps[3].denied, steps[3].result.success) == (True, False)
        assert (steps[-1].response.text, steps[-1].response.usage.total_tokens > 0) == ("Done.", True)
        assert [call.args["command"] for call in steps[-1].response.tool_calls] == ["echo here", "rm -rf /"]
        assert (await client.generate(session_id, "And now?")).text == "Done."
        await client.end_session(session_id, "enough")
        with pytest.raises(RefusedError, match="has ended") as ended:
            await client.generate(session_id, "Still there?")
        assert ended.value.code == "not-found"
    leaves = [leaf["event"] for leaf in daemon.leaves() if leaf.get("harness_session_id") == session_id]
    assert (leaves[0], leaves[-1]) == ("session-start", "session-end")


async def test_a_tool_is_judged_like_any_call(daemon, session):
    async with daemon.client() as client, daemon.client(name="other") as other:
        session_id = await session(client)
        ran = await client.execute_tool(session_id, "Bash", {"command": "echo hi; exit 3"})
        assert (ran.success, ran.exit_code) == (False, 3)
        for asks, command, code in [(client, "rm -rf /", "blocked"), (other, "ls", "not-found")]:
            with pytest.raises(RefusedError) as refused:
                await asks.execute_tool(session_id, "Bash", {"command": command})
            assert refused.value.code == code
        with pytest.raises(RefusedError) as late:
            await client.execute_tool(session_id, "Bash", {"command": "sleep 60"}, timeout_ms=200)
        assert late.value.code == "timed-out"
        with pytest.raises(RefusedError, match="no model") as missing:
            await client.generate(session_id, "Go")
        assert missing.value.code == "model"


async def test_ending_the_iteration_cancels_the_turn(daemon, session):
    async with daemon.client() as client:
        session_id = await session(client, bash("echo $$ > pid; sleep 60"), {"say": "Done."})
        steps = client.generate_stream(session_id, "Go")
        while (await anext(steps)).type != "tool_call":
            pass
        pid = int(await until(lambda: (daemon.project / "pid").read_text().strip()))
        await steps.aclose()
        await until(lambda: not is_running(pid))
        assert (await client.generate(session_id, "Go on")).text == "Done."


def is_running(pid):
    # A zombie runs nothing.
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and ") Z " not in status.read_text()


async def until(true):
    for _ in range(1000):
        with contextlib.suppress(FileNotFoundError):
            if said := true():
                return said
        await asyncio.sleep(0.01)
    pytest.fail("in vain")


@pytest.mark.parametrize("observes", [False, True])
async def test_a_hook_is_not_called_about_its_own_tool_calls(daemon, session, observes):
    async with daemon.client() as client:
        asked = []

        async def auto_format(event):
            asked.append(event.tool)
            await client.execute_tool(event.session_id, "Bash", {"command": f"touch formatted-{len(asked)}"})
            return HookResponse.continue_()

        client.register_hook("PostToolUse", auto_format, config={"async": observes})
        await client.ready()
        session_id = await session(client)
        await client.execute_tool(session_id, "Write", {"file_path": "a.py", "content": ""})
        await until((daemon.project / "formatted-1").exists)
        await client.end_session(session_id)
    assert asked == ["Write"]
    assert (daemon.project / "formatted-1").exists()
    assert not (daemon.project / "formatted-2").exists()


async def test_a_failed_tool_is_retried(daemon, session):
    async with daemon.client() as client:
        client.register_hook("ToolError", lambda event: HookResponse.retry(20))
        await client.ready()
        event = ToolErrorEvent(session_id="s", tool="Bash", args={"command": "ls"}, error="boom")
        outcome = await client.fire(event)
        assert (outcome.action, outcome.retry_delay_ms) == ("retry", 20)
        session_id = await session(client)
        once = {"command": "test -e there || { touch there; exit 1; }"}
        assert (await client.execute_tool(session_id, "Bash", once)).success


async def test_in_the_default_mode_the_user_is_asked(daemon, session):
    async with daemon.client() as client:
        client.register_hook("PermissionRequest", lambda event: HookResponse.block("User denied permission"))
        await client.ready()
        session_id = await session(client, permission_mode="default")
        with pytest.raises(RefusedError, match="User denied permission") as refused:
            await client.execute_tool(session_id, "Write", {"file_path": "a", "content": ""})
        assert refused.value.code == "blocked"
        assert (await client.execute_tool(session_id, "Glob", {"pattern": "*"})).success
    assert not (daemon.project / "a").exists()
