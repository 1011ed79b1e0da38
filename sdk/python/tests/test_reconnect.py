# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Broken streams, repeated calls, and handlers that are no longer waited for."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from tenterhook import HookResponse, RefusedError, TenterhookClient
from tenterhook.v1 import hooks_pb2 as pb


class Handler:
    """Counts its calls, and answers when the test releases it."""

    def __init__(self):
        self.calls = 0
        self.cancelled = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, event):
        self.calls += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return HookResponse.block(f"call {self.calls}")


@pytest.fixture
def handler():
    return Handler()


async def test_a_call_repeated_while_its_handler_runs_is_answered_once(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        first = await scripted.stream()
        await first.ask("h", 7)
        await asyncio.sleep(0.1)
        first.close(grpc.StatusCode.UNAVAILABLE, "gone")
        second = await scripted.stream()
        await second.ask("h", 7, redelivered=True)
        handler.go.set()
        answer = await scripted.answer()
        assert (answer.call_id, answer.reason, handler.calls) == (7, "call 1", 1)
        assert await scripted.silence()
    assert len(set(scripted.identities)) == 1, "it is the same client"


async def test_a_lost_answer_is_sent_again(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    handler.go.set()
    async with client:
        first = await scripted.stream()
        await first.ask("h", 7)
        await scripted.answer()
        first.close(grpc.StatusCode.UNAVAILABLE, "gone")
        second = await scripted.stream()
        await second.ask("h", 7, redelivered=True)
        assert (await scripted.answer()).reason == "call 1"
        assert handler.calls == 1


async def test_an_answer_that_is_ready_without_a_connection_waits_for_the_call(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        first = await scripted.stream()
        await first.ask("h", 7)
        await asyncio.sleep(0.1)
        await scripted.stop()
        handler.go.set()
        await asyncio.sleep(0.1)
        await scripted.start()
        second = await scripted.stream()
        await second.ask("h", 7, redelivered=True)
        assert ((await scripted.answer()).reason, handler.calls) == ("call 1", 1)


async def test_an_answer_to_one_daemon_is_not_sent_to_the_next(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        first = await scripted.stream()
        await first.ask("h", 1)
        await asyncio.sleep(0.1)
        first.close(grpc.StatusCode.UNAVAILABLE, "gone")
        await scripted.stream()
        await client.ready()
        handler.go.set()
        assert await scripted.silence()


async def test_hooks_are_registered_again_only_if_the_daemon_lost_them(scripted):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", Handler(), hook_id="h")
    async with client:
        for remembers in (True, False):
            scripted.remembers = remembers
            stream = await scripted.stream()
            before = scripted.registered["h"]
            stream.close()
            await asyncio.sleep(0.3)
            await client.ready()
            assert (scripted.registered["h"] is before) is remembers


async def test_a_handler_is_cancelled_when_the_caller_is_gone(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        stream = await scripted.stream()
        await stream.ask("h", 1)
        await asyncio.sleep(0.1)
        await stream.cancel("h", 1)
        await asyncio.wait_for(handler.cancelled.wait(), 5)
        assert await scripted.silence()


async def test_a_handler_is_cancelled_at_its_time_limit(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        await (await scripted.stream()).ask("h", 1, timeout_ms=100)
        await asyncio.wait_for(handler.cancelled.wait(), 5)
        assert await scripted.silence()


async def test_an_answer_after_cancellation_is_not_sent(scripted):
    client = TenterhookClient(address=scripted.socket)

    @client.hook("PreToolUse", hook_id="h")
    async def stubborn(event):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return HookResponse.block("too late")

    async with client:
        await (await scripted.stream()).ask("h", 1, timeout_ms=50)
        assert await scripted.silence()


async def test_closing_cancels_handlers_and_unregisters_all_hooks(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    async with client:
        await (await scripted.stream()).ask("h", 1)
        await asyncio.sleep(0.1)
    assert handler.cancelled.is_set()
    assert scripted.unregistered == ["h"]
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not [task for task in others if "tenterhook" in repr(task.get_coro()) and "Link" in repr(task.get_coro())]


async def test_a_client_that_was_closed_can_be_entered_again(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h")
    handler.go.set()
    for call in (1, 2):
        async with client:
            await (await scripted.stream()).ask("h", call)
            assert (await scripted.answer()).call_id == call


async def test_the_answer_of_an_async_hook_is_not_sent(scripted, handler):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="h", config={"async": True})
    handler.go.set()
    async with client:
        await (await scripted.stream()).ask("h", 1, timeout_ms=0)
        assert await scripted.silence()
        assert handler.calls == 1


async def test_serving_ends_when_the_daemon_refuses_it(scripted):
    client = TenterhookClient(address=scripted.socket)
    serving = asyncio.ensure_future(client.serve())
    (await scripted.stream()).close(grpc.StatusCode.ABORTED, "a newer stream")
    with pytest.raises(RefusedError, match="a newer stream"):
        await asyncio.wait_for(serving, 10)


async def test_serving_ends_when_the_client_is_closed(scripted):
    client = TenterhookClient(address=scripted.socket)
    serving = asyncio.ensure_future(client.serve())
    await scripted.stream()
    await asyncio.sleep(0.1)
    await client.close()
    await asyncio.wait_for(serving, 10)


async def test_two_thousand_concurrent_calls_get_their_own_answers(scripted):
    client = TenterhookClient(address=scripted.socket)

    @client.hook("PreToolUse", hook_id="h", config={"timeout_ms": 60000})
    async def echo(event):
        await asyncio.sleep(0.05)
        return HookResponse.block(str(event.args["n"]))

    async with client:
        stream = await scripted.stream()
        for number in range(2000):
            await stream.ask("h", number + 1, timeout_ms=60000, args={"n": number + 1})
        answers = [await scripted.answer() for _ in range(2000)]
    assert {answer.call_id for answer in answers} == set(range(1, 2001))
    assert all(answer.reason == str(answer.call_id) for answer in answers)


def test_a_client_works_in_one_loop_after_the_other(place):
    from scripted import Scripted

    client = TenterhookClient(address=str(place / "scripted.sock"))
    client.register_hook("PreToolUse", lambda event: HookResponse.block("yes"), hook_id="h")

    async def once():
        server = await Scripted(place).start()
        await client.ready()
        await (await server.stream()).ask("h")
        answer = await server.answer()
        await server.stop()
        return answer.action

    assert [asyncio.run(once()), asyncio.run(once())] == [pb.BLOCK, pb.BLOCK]
