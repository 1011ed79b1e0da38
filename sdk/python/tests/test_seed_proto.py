# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A client generated from the proto of A3S's hook design, over a plain gRPC channel."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import sys
from pathlib import Path

import grpc
import pytest
from daemon import Daemon
from grpc_tools import protoc

from tenterhook import PreToolUseEvent

SEEDS = Path(__file__).parent / "seeds"
METADATA = (("tenterhook-client-id", "0123456789abcdef0123456789abcdef"), ("tenterhook-client-name", "seed/1"))


@pytest.fixture(scope="session")
def stubs(tmp_path_factory):
    """Generated modules: messages and stubs."""
    out = tmp_path_factory.mktemp("stubs")
    proto = str(SEEDS / "a3s_hooks.proto")
    assert protoc.main(["protoc", f"-I{SEEDS}", f"--python_out={out}", f"--grpc_python_out={out}", proto]) == 0
    sys.path.insert(0, str(out))
    return importlib.import_module("a3s_hooks_pb2"), importlib.import_module("a3s_hooks_pb2_grpc")


class SeedClient:
    """Answers every message of its stream with the same action once `go` is set, at most `answers` times."""

    def __init__(self, stubs, daemon, action="BLOCK"):
        self.pb, services = stubs
        self.channel = grpc.aio.insecure_channel(f"unix:{daemon.home}/run/tenterhook.sock")
        self.stub = services.HookServiceStub(self.channel)
        self.action = action
        self.seen = []
        self.answers = 100
        self.go = asyncio.Event()
        self.go.set()

    async def __aenter__(self):
        self.stream = self.stub.HookStream(metadata=METADATA)
        self.answering = asyncio.create_task(self.answer())
        await until(lambda: self.seen)
        return self

    async def __aexit__(self, *_):
        self.answering.cancel()
        with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
            await self.answering
        await self.channel.close()

    async def register(self, **config):
        request = self.pb.RegisterHookRequest(
            event_type="PreToolUse",
            matcher=self.pb.HookMatcher(tool="Bash"),
            config=self.pb.HookConfig(timeout_ms=5000, **config),
        )
        return (await self.stub.RegisterHook(request, metadata=METADATA)).hook_id

    async def answer(self):
        async for event in self.stream:
            self.seen.append(event)
            await self.go.wait()
            if self.answers == 0:
                continue
            self.answers -= 1
            said = self.pb.HookResponse(
                hook_id=event.hook_id, action=self.pb.HookAction.Value(self.action), reason="seed says no"
            )
            await self.stream.write(said)


async def until(holds):
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def bash(command):
    return PreToolUseEvent(session_id="s", tool="Bash", args={"command": command})


# seed: 003-050, 003-051, 003-052, 003-053, 003-056, 003-057
async def test_it_registers_lists_blocks_and_unregisters(daemon, stubs):
    async with SeedClient(stubs, daemon) as seed, daemon.client() as agent:
        hook_id = await seed.register()
        listed = await seed.stub.ListHooks(seed.pb.ListHooksRequest(), metadata=METADATA)
        assert [hook.hook_id for hook in listed.hooks] == [hook_id]
        for _ in range(3):
            outcome = await agent.fire(bash("ls"))
            assert (outcome.blocked, outcome.reason) == (True, "seed says no")
        asked = [event for event in seed.seen if event.hook_id]
        assert [json.loads(event.payload)["args"] for event in asked] == [{"command": "ls"}] * 3
        # It also answers the HELLO message, which must get no reply.
        assert len(seed.seen) == 4
        await seed.stub.UnregisterHook(seed.pb.UnregisterHookRequest(hook_id=hook_id), metadata=METADATA)
        assert not (await agent.fire(bash("ls"))).blocked


async def test_an_ambiguous_answer_fails_the_hook_and_ends_the_stream(place, stubs):
    for behavior, blocked in [("continue", False), ("block", True)]:
        home = place / behavior
        home.mkdir()
        with Daemon(home, settings={"hooks": {"failBehavior": behavior}}) as daemon:
            async with SeedClient(stubs, daemon, action="CONTINUE") as seed, daemon.client() as agent:
                await seed.register()
                seed.go.clear()
                fires = [asyncio.create_task(agent.fire(bash(command))) for command in ("ls", "pwd")]
                await until(lambda: seed.seen and seed.seen[-1].hook_id)
                await asyncio.sleep(0.3)
                # A second answer could arrive at the end of the stream, which gRPC would report instead.
                seed.answers = 1
                seed.go.set()
                outcomes = await asyncio.gather(*fires)
                assert [outcome.blocked for outcome in outcomes] == [blocked, blocked]
                assert await seed.stream.code() == grpc.StatusCode.FAILED_PRECONDITION
                assert "`call_id`" in await seed.stream.details()
            log = (home / "serve.log").read_text()
            assert "answer refused" in log
            assert "ERROR" in log

            # From now on it gets one call at a time.
            async with SeedClient(stubs, daemon) as seed, daemon.client() as agent:
                outcomes = await asyncio.gather(*(agent.fire(bash(f"echo {n}")) for n in range(5)))
                assert [outcome.reason for outcome in outcomes] == ["seed says no"] * 5


# seed: 003-068, 003-070
async def test_a_timeout_is_a_warning_and_a_lost_program_is_an_error_in_the_log(daemon, stubs, place):
    async with SeedClient(stubs, daemon) as seed, daemon.client() as agent:
        request = seed.pb.RegisterHookRequest(event_type="PreToolUse", config=seed.pb.HookConfig(timeout_ms=100))
        await seed.stub.RegisterHook(request, metadata=METADATA)
        seed.go.clear()
        assert not (await agent.fire(bash("ls"))).blocked
    async with daemon.client() as agent:
        await asyncio.sleep(0.6)
        assert not (await agent.fire(bash("ls"))).blocked
    lines = (place / "serve.log").read_text().splitlines()
    assert [line for line in lines if "WARN" in line and "hook timed out" in line], lines
    assert [line for line in lines if "ERROR" in line and "hook is not reachable" in line], lines
