# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Killed daemons, hanging handlers and crashing programs: the outcome always follows the policy."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time

import pytest

from tenterhook import HookResponse, NotConnectedError, PreToolUseEvent

BASH = PreToolUseEvent(session_id="s", tool="Bash", args={"command": "ls"})


def steps(outcome, hook_id):
    return [step["status"] for step in outcome.outcome["trace"] if step["by"] == f"hook:{hook_id}"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_a_daemon_that_comes_back_has_all_hooks_again(daemon, how):
    async with daemon.client() as client:
        client.register_hook("PreToolUse", lambda event: HookResponse.block("no"))
        await client.ready()
        for _ in range(3):
            await asyncio.to_thread(daemon.end, how)
            await asyncio.to_thread(daemon.start)
            await client.ready()
            assert (await client.fire(BASH)).reason == "no"


async def test_without_a_daemon_there_is_no_decision_and_an_error_in_time(daemon):
    async with daemon.client(connect_timeout=0.5) as client:
        await asyncio.to_thread(daemon.kill)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        with pytest.raises(NotConnectedError):
            await client.fire(BASH)
        assert time.monotonic() - began < 5


async def test_a_daemon_killed_during_a_call(daemon):
    asked = asyncio.Event()

    async def slow(event):
        asked.set()
        await asyncio.sleep(1)
        return HookResponse.block("late")

    async with daemon.client() as client:
        client.register_hook("PreToolUse", slow)
        await client.ready()
        firing = asyncio.ensure_future(client.fire(BASH))
        await asyncio.wait_for(asked.wait(), 10)
        await asyncio.to_thread(daemon.kill)
        with pytest.raises(NotConnectedError):
            await asyncio.wait_for(firing, 10)
        await asyncio.to_thread(daemon.start)
        await client.ready()
        assert (await client.fire(BASH)).reason == "late"


@pytest.mark.parametrize("fails", ["continue", "block"])
async def test_a_handler_that_hangs_is_cancelled_at_its_deadline(daemon, fails):
    cancelled = asyncio.Event()

    async def hang(event):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with daemon.client() as client:
        hook_id = client.register_hook("PreToolUse", hang, config={"timeout_ms": 200, "fail_behavior": fails})
        await client.ready()
        began = time.monotonic()
        outcome = await client.fire(BASH)
        assert time.monotonic() - began < 3
        await asyncio.wait_for(cancelled.wait(), 5)
    assert (outcome.blocked, steps(outcome, hook_id)) == (fails == "block", ["timed-out"])


@pytest.mark.parametrize("fails", ["continue", "block"])
async def test_a_handler_that_raises(daemon, fails):
    def broken(event):
        raise RuntimeError("boom")

    async with daemon.client() as client:
        hook_id = client.register_hook("PreToolUse", broken, config={"fail_behavior": fails})
        await client.ready()
        outcome = await client.fire(BASH)
    assert (outcome.blocked, steps(outcome, hook_id)) == (fails == "block", ["failed"])
    assert "RuntimeError: boom" in str(outcome.outcome["trace"])


async def test_a_late_answer_is_dropped(daemon):
    """A plain function cannot be cancelled: its answer comes long after the call has ended."""
    seen = []

    def late(event):
        seen.append(event.args["command"])
        if event.args["command"] == "first":
            time.sleep(0.5)
            return HookResponse.block("of the first")
        return HookResponse.continue_()

    async with daemon.client() as client:
        client.register_hook("PreToolUse", late, config={"timeout_ms": 100})
        await client.ready()
        for command in ("first", "second", "third"):
            event = PreToolUseEvent(session_id="s", tool="Bash", args={"command": command})
            assert not (await client.fire(event)).blocked
        await asyncio.sleep(0.6)
        assert not (await client.fire(BASH)).blocked
    assert seen == ["first", "second", "third", "ls"]


async def test_fire_can_be_cancelled(daemon):
    cancelled = asyncio.Event()

    async def slow(event):
        try:
            await asyncio.sleep(4)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with daemon.client() as client:
        client.register_hook("PreToolUse", slow)
        await client.ready()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.fire(BASH), 0.3)
        await asyncio.wait_for(cancelled.wait(), 10)


CRASHES = """
import asyncio, os, sys
from tenterhook import HookResponse, TenterhookClient

client = TenterhookClient(home=sys.argv[1], name="crashes")

@client.hook("PreToolUse", hook_id="crashes", config={"fail_behavior": sys.argv[2], "linger_ms": 60000})
async def crash(event):
    os.kill(os.getpid(), 9)

async def main():
    await client.ready()
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("fails", ["continue", "block"])
async def test_a_program_that_crashes_during_a_call_delays_no_other(daemon, fails):
    command = [sys.executable, "-c", CRASHES, str(daemon.home), fails]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=daemon.environment) as program:
        assert await asyncio.to_thread(program.stdout.readline) == b"ready\n"
        async with daemon.client() as client:
            client.register_hook("PreToolUse", lambda event: HookResponse.modified(args={"command": "ls -l"}))
            await client.ready()
            began = time.monotonic()
            outcome = await client.fire(BASH)
            assert time.monotonic() - began < 4
            assert outcome.blocked is (fails == "block")
            if not outcome.blocked:
                assert outcome.modified == {"args": {"command": "ls -l"}}


async def test_two_clients_with_many_concurrent_events(daemon):
    """Each answer belongs to its own event."""

    async def echo(event):
        await asyncio.sleep(0.001 * (event.args["n"] % 7))
        return HookResponse.modified(args={**event.args, "seen": event.args["n"]})

    def odd(event):
        return HookResponse.block(f"odd {event.args['n']}") if event.args["n"] % 2 else None

    async with daemon.client() as one, daemon.client() as two, daemon.client(name="agent") as agent:
        one.register_hook("PreToolUse", echo)
        two.register_hook("PreToolUse", odd)
        await one.ready()
        await two.ready()

        async def fire(number):
            args = {"command": "ls", "n": number}
            return await agent.fire(PreToolUseEvent(session_id=str(number), tool="Bash", args=args))

        outcomes = await asyncio.gather(*(fire(number) for number in range(500)))
    for number, outcome in enumerate(outcomes):
        if number % 2:
            assert outcome.reason == f"odd {number}"
        else:
            assert outcome.modified == {"args": {"command": "ls", "n": number, "seen": number}}
