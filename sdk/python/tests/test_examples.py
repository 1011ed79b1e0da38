# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples, with a real daemon: an agent fires events, the example's hooks decide."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path

import auto_format
import bash_timeout
import cost_tracking
import env_files
import permission_escalation
import pytest
import security_policy

from tenterhook import (
    GenerateEndEvent,
    GenerateResponse,
    ModelConfig,
    PermissionRequestEvent,
    PostToolUseEvent,
    PreToolUseEvent,
    TokenUsage,
    ToolResult,
)


async def until(true, seconds=10):
    for _ in range(int(seconds * 100)):
        if true():
            return
        await asyncio.sleep(0.01)
    pytest.fail("in vain")


def call(tool, **args):
    return PreToolUseEvent(session_id="s", tool=tool, args=args)


async def test_security_policy(daemon):
    client = daemon.client()
    security_policy.hooks(client)
    async with client, daemon.client(name="agent") as agent:
        for command in ("mkfs.ext4 disk.img", "dd if=a of=/dev/null", "echo x > /dev/sda"):
            outcome = await agent.fire(call("Bash", command=command))
            assert outcome.blocked
            assert "Blocked dangerous command matching" in json.dumps(outcome.outcome["reasons"])
        assert not (await agent.fire(call("Bash", command="ls"))).blocked
        assert not (await agent.fire(call("Write", file_path="/tmp/a", content="mkfs.ext4"))).blocked


async def test_security_policy_applies_to_an_agent_without_the_sdk(daemon):
    """A hook call of Claude Code, through the program that it runs."""
    client = daemon.client()
    security_policy.hooks(client)
    payload = {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": str(daemon.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "mkfs.ext4 disk.img"},
        "tool_use_id": "t1",
    }
    async with client:
        said = await asyncio.to_thread(daemon.run, "hook", "claude-code", "PreToolUse", stdin=json.dumps(payload))
    specific = json.loads(said.stdout)["hookSpecificOutput"]
    assert specific["permissionDecision"] == "deny"
    assert "Blocked dangerous command matching" in specific["permissionDecisionReason"]


# seed: 003-044
async def test_env_files(daemon):
    client = daemon.client()
    env_files.hooks(client)
    async with client, daemon.client(name="agent") as agent:
        for path, content, blocked in [
            (".env", "API_KEY=x", True),
            ("deep/down/prod.env", "API_KEY=x", True),
            (".env", "COLOUR=red", False),
            ("notes.txt", "API_KEY=x", False),
        ]:
            event = call("Write", file_path=str(daemon.project / path), content=content)
            outcome = await agent.fire(event)
            said = "Cannot write API keys to .env files" in json.dumps(dict(outcome.outcome))
            assert said is blocked, (path, content, outcome)


async def test_bash_timeout(daemon):
    client = daemon.client()
    bash_timeout.hooks(client)
    async with client, daemon.client(name="agent") as agent:
        outcome = await agent.fire(call("Bash", command="ls"))
        assert outcome.modified == {"args": {"command": "ls", "timeout": 30000}}
        assert not outcome.blocked
        assert (await agent.fire(call("Read", file_path="/tmp/a"))).modified is None


async def test_cost_tracking(daemon, caplog):
    client = daemon.client()
    usage = cost_tracking.hooks(client)

    def answered(model, tokens):
        response = GenerateResponse(text="t", usage=TokenUsage(total_tokens=tokens))
        return GenerateEndEvent(session_id="s", prompt="p", model=ModelConfig(model), response=response)

    async with client, daemon.client(name="agent") as agent:
        await agent.fire(answered("small", 1_000_000))
        await until(lambda: usage.total_tokens == 1_000_000)
        assert usage.total_cost == pytest.approx(1.0)
        assert not [record for record in caplog.records if record.name == "cost"]
        with caplog.at_level(logging.WARNING, logger="cost"):
            await agent.fire(answered("large", 500_000))
            await until(lambda: usage.total_tokens == 1_500_000)
    said = [record.getMessage() for record in caplog.records if record.name == "cost"]
    assert said == ["Session cost exceeded $10: $11.00"]


async def test_permission_escalation(daemon):
    asked = []

    async def confirm(title, message):
        asked.append((title, message))
        return "ls" in message

    client = daemon.client()
    permission_escalation.hooks(client, confirm)
    async with client, daemon.client(name="agent") as agent:

        async def request(tool, **args):
            return await agent.fire(PermissionRequestEvent(session_id="s", tool=tool, args=args))

        assert not (await request("Bash", command="ls")).blocked
        denied = await request("Bash", command="make")
        assert (denied.blocked, denied.reason) == (True, "User denied permission")
        assert not (await request("Read", file_path="/tmp/a")).blocked
    assert [title for title, _ in asked] == ["Allow Bash?", "Allow Bash?"]
    assert asked[1][1] == 'The agent wants to execute: {"command": "make"}'


async def test_auto_format(daemon, monkeypatch):
    ruff = str(Path(sys.executable).parent / "ruff")
    monkeypatch.setitem(auto_format.FORMATTERS, ".py", [ruff, "format", "--quiet"])
    client = daemon.client()
    auto_format.hooks(client)
    written = daemon.project / "a.py"
    async with client, daemon.client(name="agent") as agent:
        for success, expected in [(False, "x=1"), (True, "x = 1\n")]:
            written.write_text("x=1")
            args, result = {"file_path": str(written), "content": "x=1"}, ToolResult(success=success)
            await agent.fire(PostToolUseEvent(session_id="s", tool="Write", args=args, result=result))
            assert written.read_text() == expected
