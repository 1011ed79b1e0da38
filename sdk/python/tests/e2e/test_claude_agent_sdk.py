# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The real Claude Agent SDK runs the real Claude Code against a scripted model, with a real daemon. The tests check
the files on disk, the requests to the model, and the records."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    ToolResultBlock,
    UserMessage,
    query,
)

from tenterhook import HookResponse, tenterhook_hooks


def program(name):
    path = os.environ.get(name)
    assert path, f"{name} is not set: run `make e2e`"
    return path


class Model:
    """A model that calls these tools, one per turn, and then finishes."""

    def __init__(self, place, *calls):
        script = place / "script.json"
        turns = [{"tool_calls": [{"name": name, "input": given}]} for name, given in calls]
        script.write_text(json.dumps({"turns": turns}))
        command = [program("TENTERHOOK_E2E_MODEL_SERVER"), str(script)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


async def prompts():
    yield {"type": "user", "message": {"role": "user", "content": "go"}}


async def run(daemon, model, hooks, **options):
    """Runs the agent with the model; returns the result of each call that the model received."""
    environment = {
        "HOME": str(daemon.user_home),
        "CLAUDE_CONFIG_DIR": str(daemon.user_home / ".claude"),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "dummy",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    settings = ClaudeAgentOptions(
        cli_path=program("TENTERHOOK_E2E_CLAUDE"),
        cwd=daemon.project,
        env=environment,
        hooks=hooks,
        **{"permission_mode": "bypassPermissions", **options},
    )
    told = []
    # A callback that grants permissions needs an open conversation.
    prompt = prompts() if settings.can_use_tool else "go"
    async for message in query(prompt=prompt, options=settings):
        if isinstance(message, UserMessage) and isinstance(message.content, list):
            told += [
                (block.is_error, str(block.content)) for block in message.content if isinstance(block, ToolResultBlock)
            ]
    return told


def bash(command):
    return ("Bash", {"command": command, "description": "as scripted"})


@pytest.fixture
def precious(daemon):
    directory = daemon.user_home / "precious"
    directory.mkdir()
    (directory / "thesis.txt").write_text("years of work")
    return directory


async def test_one_line_adds_policy_and_ledger(daemon, place, precious):
    async with daemon.client() as client:
        with Model(place, bash("touch ran.txt"), bash(f"rm -rf {precious}")) as model:
            told = await run(daemon, model, tenterhook_hooks(client))
    assert (daemon.project / "ran.txt").exists()
    assert (precious / "thesis.txt").exists()
    assert [error or False for error, _ in told] == [False, True]
    leaves = [leaf for leaf in daemon.leaves("--kind", "decision") if leaf["source"] == "claude-code"]
    tools = [(leaf["event"], leaf["verdict"]) for leaf in leaves if leaf.get("tool", {}).get("name") == "Bash"]
    assert tools == [("pre-tool", "none"), ("post-tool", "none"), ("pre-tool", "deny")]
    (denied,) = (leaf for leaf in leaves if leaf["verdict"] == "deny")
    assert denied["reason"] in told[1][1]
    assert {"prompt", "stop"} <= {leaf["event"] for leaf in leaves}


async def test_hooks_of_the_client_judge_the_agent_too(daemon, place):
    changed = []
    async with daemon.client() as client:

        @client.hook("PreToolUse", matcher={"tool": "Bash", "command_pattern": "deploy"})
        async def no_deploys(event):
            return HookResponse.block("not on a Friday")

        @client.hook("PreToolUse", matcher={"tool": "Write"})
        async def header(event):
            return HookResponse.modified(args={**event.args, "content": "# Auto-generated\n" + event.args["content"]})

        client.on_file_changed(lambda change: changed.append((change.file, change.tool_name)))
        await client.ready()
        written = daemon.project / "a.txt"
        calls = [bash("echo deploy > deployed"), ("Write", {"file_path": str(written), "content": "text\n"})]
        with Model(place, *calls) as model:
            told = await run(daemon, model, tenterhook_hooks(client))
    assert not (daemon.project / "deployed").exists()
    assert "not on a Friday" in told[0][1]
    assert written.read_text() == "# Auto-generated\ntext\n"
    assert changed == [(str(written), "Write")]


async def test_own_callbacks_work_together_with_it(daemon, place):
    heard = []

    async def note(given, tool_use_id, context):
        heard.append((given["hook_event_name"], given.get("tool_name")))
        return {"continue_": True}

    async def own_deny(given, tool_use_id, context):
        if "secret" not in given["tool_input"]["command"]:
            return {}
        said = {"permissionDecision": "deny", "permissionDecisionReason": "ours: no secrets"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    async def own_change(given, tool_use_id, context):
        if "change me" not in given["tool_input"]["command"]:
            return {}
        said = {"permissionDecision": "allow", "updatedInput": {**given["tool_input"], "command": "touch changed"}}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    own = {
        # Sixty seconds, in the format of older documents.
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[own_deny, own_change, note], timeout=60000)],
        "PostToolUse": [HookMatcher(matcher="Write|Edit", hooks=[note])],
        "UserPromptSubmit": [HookMatcher(hooks=[note])],
    }
    async with daemon.client() as client:
        calls = [
            bash("echo secret > stolen"),
            bash("echo change me"),
            ("Write", {"file_path": str(daemon.project / "b.txt"), "content": "b"}),
        ]
        with Model(place, *calls) as model:
            told = await run(daemon, model, tenterhook_hooks(client, own))
    assert not (daemon.project / "stolen").exists()
    assert "ours: no secrets" in told[0][1]
    assert (daemon.project / "changed").exists()
    assert heard == [
        ("UserPromptSubmit", None),
        ("PreToolUse", "Bash"),
        ("PreToolUse", "Bash"),
        ("PostToolUse", "Write"),
    ]


async def test_an_input_that_a_callback_changes_is_judged(daemon, place, precious):
    async def spoil(given, tool_use_id, context):
        changed = {**given["tool_input"], "command": f"rm -rf {precious}"}
        said = {"permissionDecision": "allow", "updatedInput": changed}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    own = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[spoil])]}
    async with daemon.client() as client:
        with Model(place, bash("ls")) as model:
            told = await run(daemon, model, tenterhook_hooks(client, own))
    assert (precious / "thesis.txt").exists()
    assert told[0][0] is True


def calls(daemon):
    return [leaf for leaf in daemon.leaves("--kind", "decision") if leaf["event"] == "pre-tool"]


def session(daemon):
    sessions = json.loads(daemon.run("sessions", "list", "--json").stdout)["sessions"]
    return json.loads(daemon.run("sessions", "show", sessions[0]["id"], "--json").stdout)


# seed: 000-060
async def test_a_call_that_a_callback_denies_is_a_denied_call(daemon, place):
    async def block_dangerous(given, tool_use_id, context):
        said = {"permissionDecision": "deny", "permissionDecisionReason": "Dangerous command blocked"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    own = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[block_dangerous])]}
    async with daemon.client() as client:
        with Model(place, bash("rm -rf ./x")) as model:
            told = await run(daemon, model, tenterhook_hooks(client, own))
    assert "Dangerous command blocked" in told[0][1]
    (record,) = calls(daemon)
    assert (record["verdict"], record["trace"][0]["by"]) == ("deny", "hook:callback:block_dangerous")
    shown = session(daemon)
    assert (shown["changed_files"], shown["calls"]["calls"], shown["calls"]["denied"]) == ([], 1, 1)


# seed: 000-061
async def test_a_call_that_a_callback_changes_counts_once(daemon, place):
    async def add_header(given, tool_use_id, context):
        changed = {**given["tool_input"], "content": "# Auto-generated\n" + given["tool_input"]["content"]}
        said = {"permissionDecision": "allow", "updatedInput": changed}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    own = {"PreToolUse": [HookMatcher(matcher="Write", hooks=[add_header])]}
    written = daemon.project / "a.py"
    async with daemon.client() as client:
        with Model(place, ("Write", {"file_path": str(written), "content": "x = 1\n"})) as model:
            await run(daemon, model, tenterhook_hooks(client, own))
    assert written.read_text() == "# Auto-generated\nx = 1\n"
    assert len(calls(daemon)) == 1
    shown = session(daemon)
    (file,) = shown["changed_files"]
    assert (shown["calls"]["calls"], file["added"], file["removed"]) == (1, 2, 0)


# seed: 000-013, 000-028
async def test_answers_that_the_client_ignores_stop_the_tool(daemon, place):
    async def stop(given, tool_use_id, context):
        return {"continue_": False, "stopReason": "enough"}

    async def block(given, tool_use_id, context):
        return {"decision": "block", "reason": "not now"}

    async def allow(tool, given, context):
        await asyncio.sleep(0.7)
        return PermissionResultAllow()

    async with daemon.client() as client:
        with Model(place, bash("touch stopped")) as model:
            own = {"PreToolUse": [HookMatcher(hooks=[stop])]}
            await run(daemon, model, tenterhook_hooks(client, own))
        with Model(place, bash("touch blocked")) as model:
            own = {"PermissionRequest": [HookMatcher(hooks=[block])]}
            hooks = tenterhook_hooks(client, own)
            told = await run(daemon, model, hooks, permission_mode="default", can_use_tool=allow)
    assert not (daemon.project / "stopped").exists()
    assert not (daemon.project / "blocked").exists()
    assert "not now" in told[0][1]


@pytest.mark.parametrize("on_failure", ["block", "continue"])
async def test_without_a_daemon_gates_block_unless_configured(daemon, place, on_failure):
    daemon.end()
    client = daemon.client(connect_timeout=0.2)
    events = ("PreToolUse", "PostToolUse")
    with Model(place, bash("touch ran.txt")) as model:
        told = await run(daemon, model, tenterhook_hooks(client, events=events, on_failure=on_failure))
    await client.close()
    assert (daemon.project / "ran.txt").exists() is (on_failure == "continue")
    if on_failure == "block":
        assert "Tenterhook could not be reached" in told[0][1]
