# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The guide: its program runs and blocks what the guide says, and its other code blocks run in order."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from tenterhook import GenerateEndEvent, GenerateResponse, HookResponse, PreToolUseEvent, TokenUsage

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guide"


def blocks(name):
    return re.findall(r"^```(\w+ ?\w*)\n(.*?)^```$", (GUIDES / name).read_text(), re.MULTILINE | re.DOTALL)


BLOCKS = blocks("sdk-python.md")


# Programs ignore SIGINT if a shell started the tests in the background.
HEED_CTRL_C = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


async def test_the_program(daemon):
    (source,) = (text for kind, text in BLOCKS if kind == "python program")
    (shell,) = (text for kind, text in BLOCKS if kind == "sh" and "tenterhook explain" in text)
    command = re.search(r"--command '(.*?)'", shell).group(1)
    fields = {"session_id": "s", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    payload = json.dumps({**fields, "tool_input": {"command": command}})
    started = [sys.executable, "-c", HEED_CTRL_C + source]
    with subprocess.Popen(started, env=daemon.environment, stderr=subprocess.PIPE, text=True) as program:
        try:
            async with daemon.client() as client:
                while not await client.list_all_hooks():
                    await asyncio.sleep(0.05)
            listed = await asyncio.to_thread(daemon.run, "hooks", "list")
            explained = await asyncio.to_thread(daemon.run, "explain", "--command", command)
            said = await asyncio.to_thread(daemon.run, "hook", "claude-code", "PreToolUse", stdin=payload)
        finally:
            program.send_signal(signal.SIGINT)
            logged = program.stderr.read()
    assert logged.count("connected to the daemon") == 1, logged
    assert "program guard" in listed.stdout
    assert "denied" in explained.stdout
    assert "force pushes are done by people" in explained.stdout
    assert "force pushes are done by people" in said.stdout
    assert json.loads(said.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert program.returncode == 0, "Ctrl-C ends it quietly"
    assert daemon.leaves("--kind", "decision")[-1]["verdict"] == "deny"


async def test_the_other_code_blocks(daemon, capsys):
    pieces = "\n".join(text for kind, text in BLOCKS if kind == "python")
    names = {"HookResponse": HookResponse, "PreToolUseEvent": PreToolUseEvent, "GenerateEndEvent": GenerateEndEvent}
    source = f"async def run(client):\n{textwrap.indent(pieces, '    ')}\n    return follow, options\n"
    exec(compile(source, "guide", "exec"), names)
    async with daemon.client() as client:
        follow, options = await names["run"](client)
        following = asyncio.ensure_future(follow())
        await client.ready()
        await asyncio.sleep(0.2)
        response = GenerateResponse(usage=TokenUsage(total_tokens=5))
        await client.fire(GenerateEndEvent(session_id="s", response=response))
        event = PreToolUseEvent(session_id="s", tool="Bash", args={"command": "npm ci"})
        assert (await client.fire(event)).modified == {"args": {"command": "npm ci", "timeout": 300_000}}
        await asyncio.sleep(0.3)
        following.cancel()
    assert len(options.hooks["PostToolUse"]) == 2
    assert "none {" in capsys.readouterr().out


async def test_an_agent_of_your_own(daemon):
    (source,) = (text for kind, text in blocks("your-agent.md") if kind == "python program")
    command = [sys.executable, "-c", source]
    ran = await asyncio.to_thread(
        subprocess.run, command, env=daemon.environment, capture_output=True, text=True, timeout=30, check=True
    )
    done, refused, *_ = ran.stdout.splitlines()
    assert done == "README.md"
    assert refused.startswith("not done: This would delete a whole directory tree")
    said = [(leaf["event"], leaf["verdict"]) for leaf in daemon.leaves("--harness", "my-agent")]
    assert sorted(said) == [("post-tool", "none"), ("pre-tool", "deny"), ("pre-tool", "none")]
