# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python code of the documents that this project started from, unchanged except for the names of package and
client: it type-checks and runs.

The code is a fragment: it awaits outside a function, and uses names that it does not define (`PreToolUseEvent`,
`GenerateEndEvent`, `my_handler`, `session_id`). The test puts it into a function, after definitions of these names; the
session is one of the daemon's agent.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from pathlib import Path

FRAGMENT = (Path(__file__).parent / "seeds" / "a3s.txt").read_text()

CLIENT = "client = TenterhookClient()\n"
SESSION = """session_id = await client.create_session(
    permission_mode="bypassPermissions", model={"provider": "scripted", "script": script}
)
"""

PROGRAM = f"""
from tenterhook import GenerateEndEvent, PreToolUseEvent

{FRAGMENT.splitlines()[0]}

script = ""
heard: list[str] = []


async def my_handler(event: PreToolUseEvent) -> HookResponse:
    heard.append(event.args["command"])
    return HookResponse.continue_()


async def program() -> None:
{textwrap.indent(FRAGMENT.replace(CLIENT, CLIENT + SESSION), "    ")}
    heard.append(response.text)
    await client.execute_tool(session_id, "Bash", {{"command": "true"}})
    await client.close()
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


# seed: 003-043, 003-044, 003-045, 003-046, 003-047, 003-048, 003-049
async def test_it_runs(daemon, monkeypatch, capsys):
    monkeypatch.setenv("TENTERHOOK_HOME", str(daemon.home))
    script = daemon.project / "script.yaml"
    turns = [{"call": {"Bash": {"command": command}}} for command in ("ls", "rm -rf / # x")]
    script.write_text(json.dumps({"turns": [*turns, {"say": "Done.", "usage": {"input": 40, "output": 2}}]}))
    names = {}
    exec(compile(PROGRAM, "program", "exec"), names)
    names["script"] = str(script)
    await asyncio.wait_for(names["program"](), 30)
    assert names["heard"] == ["ls", "rm -rf / # x", "Done."], "the temporary hook is gone after its block"
    assert "Generated 42 tokens" in capsys.readouterr().out
    denied = [leaf for leaf in daemon.leaves() if leaf.get("verdict") == "deny"]
    assert ["Dangerous command blocked" in json.dumps(leaf) for leaf in denied] == [True]
