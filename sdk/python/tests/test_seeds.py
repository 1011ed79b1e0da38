# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python code of the documents this project started from, as it stands there but for the names of package and
client: it type-checks and runs.

It is a fragment: it awaits outside a function, and uses names that it does not define (`PreToolUseEvent`,
`GenerateEndEvent`, `my_handler`, `session_id`). So it is put into a function, with these names before it. The turn it
asks for at its end needs the daemon's own agent, which is not there yet: that call is answered `unimplemented`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tenterhook import (
    GenerateEndEvent,
    GenerateResponse,
    HookResponse,
    PreToolUseEvent,
    RefusedError,
    TenterhookClient,
    TokenUsage,
)

FRAGMENT = (Path(__file__).parent / "seeds" / "a3s.txt").read_text()

PROGRAM = f"""
from tenterhook import GenerateEndEvent, PreToolUseEvent

{FRAGMENT.splitlines()[0]}

session_id = "s"
heard: list[str] = []


async def my_handler(event: PreToolUseEvent) -> HookResponse:
    heard.append(event.args["command"])
    return HookResponse.continue_()


async def program() -> None:
{textwrap.indent(FRAGMENT, "    ")}
"""


def test_it_type_checks_and_a_handler_of_another_event_does_not(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(PROGRAM)
    wrong.write_text(PROGRAM.replace('register_hook("GenerateEnd"', 'register_hook("GenerateStart"'))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(right), str(wrong)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, checked.stdout
    assert "wrong.py" in errors[0]
    assert 'Argument 2 to "register_hook"' in errors[0]


async def test_it_runs(daemon, monkeypatch, capsys):
    monkeypatch.setenv("TENTERHOOK_HOME", str(daemon.home))
    clients = []

    class Client(TenterhookClient):
        """The fragment's client, within reach, and with an agent that tries two commands in its turn."""

        def __init__(self):
            super().__init__()
            clients.append(self)

        async def generate(self, session_id, prompt):
            await self.ready()
            usage = TokenUsage(total_tokens=42)
            await self.fire(GenerateEndEvent(session_id=session_id, response=GenerateResponse(usage=usage)))
            tried = [await self.fire(bash(command)) for command in ("ls", "rm -rf / # x")]
            assert [outcome.blocked for outcome in tried] == [False, True]
            assert "Dangerous command blocked" in str(tried[1].outcome)
            return await super().generate(session_id, prompt)

    def bash(command):
        return PreToolUseEvent(session_id="s", tool="Bash", args={"command": command})

    monkeypatch.setattr("tenterhook.TenterhookClient", Client)
    names = {}
    exec(compile(PROGRAM, "program", "exec"), names)
    with pytest.raises(RefusedError) as missing:
        await asyncio.wait_for(names["program"](), 30)
    assert missing.value.code == "unimplemented"
    assert names["heard"] == ["ls", "rm -rf / # x"]
    assert "Generated 42 tokens" in capsys.readouterr().out

    (client,) = clients
    await client.fire(bash("pwd"))
    assert names["heard"] == ["ls", "rm -rf / # x"], "the temporary hook is gone"
    await client.close()
    assert HookResponse is names["HookResponse"]
