# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Messages of the client to a server, one by one."""

from __future__ import annotations

import asyncio
import json

import grpc
import pytest

from tenterhook import HookResponse, InvalidHookError, NotConnectedError, RefusedError, TenterhookClient
from tenterhook.v1 import hooks_pb2 as pb


async def allow(event):
    return HookResponse.continue_()


# seed: 003-045, 003-051, 003-055
async def test_hooks_added_before_the_loop_are_registered_in_order(scripted):
    client = TenterhookClient(address=scripted.socket)
    ids = [client.register_hook("PreToolUse", allow) for _ in range(3)]
    client.register_hook(
        "Stop",
        allow,
        hook_id="last",
        matcher={"tool": "Bash", "path_pattern": "*.env", "command_pattern": "^rm"},
        config={"priority": 3, "timeout_ms": 100, "async": True, "fail_behavior": "block", "linger_ms": 5},
    )
    assert [hook.state for hook in client.list_hooks()] == ["waiting"] * 4
    async with client:
        assert list(scripted.registered) == [*ids, "last"]
        assert {hook.state for hook in client.list_hooks()} == {"registered"}
        expected = pb.RegisterHookRequest(
            event_type="Stop",
            hook_id="last",
            matcher=pb.HookMatcher(tool="Bash", path_pattern="*.env", command_pattern="^rm"),
            config=pb.HookConfig(
                priority=3, timeout_ms=100, fail_behavior=pb.FAIL_BLOCK, linger_ms=5, **{"async": True}
            ),
        )
        assert scripted.registered["last"] == expected
    assert scripted.registered == {}


async def test_each_answer_belongs_to_its_call(scripted):
    client = TenterhookClient(address=scripted.socket)

    @client.hook("PreToolUse", hook_id="h")
    async def slow_first(event):
        await asyncio.sleep(0.2 if event.args["n"] == 1 else 0)
        return HookResponse.modified(args={"n": event.args["n"] * 10})

    async with client:
        stream = await scripted.stream()
        await stream.ask("h", 1, args={"n": 1})
        await stream.ask("h", 2, args={"n": 2})
        first, second = await scripted.answer(), await scripted.answer()
    assert [(a.hook_id, a.event_id, a.call_id, json.loads(a.modified)) for a in (first, second)] == [
        ("h", "E2", 2, {"args": {"n": 20}}),
        ("h", "E1", 1, {"args": {"n": 10}}),
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, pb.HookResponse(action=pb.CONTINUE)),
        (HookResponse.continue_(), pb.HookResponse(action=pb.CONTINUE)),
        (HookResponse.block("no"), pb.HookResponse(action=pb.BLOCK, reason="no")),
        (HookResponse.retry(500), pb.HookResponse(action=pb.RETRY, retry_delay_ms=500)),
        (HookResponse.retry(), pb.HookResponse(action=pb.RETRY)),
        (HookResponse.skip("later"), pb.HookResponse(action=pb.SKIP, reason="later")),
        (HookResponse.modified(a=1), pb.HookResponse(action=pb.CONTINUE, modified=b'{"a": 1}')),
    ],
)
@pytest.mark.parametrize("plain", [True, False])
# seed: 003-048, 003-057, 003-058
async def test_every_answer_of_a_hook(scripted, said, expected, plain):
    client = TenterhookClient(address=scripted.socket)

    async def handler(event):
        return said

    client.register_hook("PreToolUse", (lambda event: said) if plain else handler, hook_id="h")
    async with client:
        await (await scripted.stream()).ask("h")
        answer = await scripted.answer()
    expected.hook_id, expected.event_id, expected.call_id = "h", "E1", 1
    assert answer == expected


class Callback:
    async def __call__(self, event):
        return HookResponse.block(type(event).__name__)


async def test_an_object_can_be_a_handler(scripted):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("Stop", Callback(), hook_id="h")
    async with client:
        await (await scripted.stream()).ask("h", event_type="Stop")
        assert (await scripted.answer()).reason == "StopEvent"


def raises(event):
    raise KeyError("gone")


async def cancels_itself(event):
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (raises, "KeyError: 'gone'"),
        (lambda event: {"action": "block"}, "TypeError: a hook must return a HookResponse, not {'action': 'block'}"),
        (lambda event: HookResponse.modified(x=object()), "TypeError: Object of type object is not JSON serializable"),
        (lambda event: HookResponse.modified(x="y" * 33 * 2**20), "ValueError: the modification has 34603017 bytes"),
        (lambda event: HookResponse.block(""), "ValueError: a block needs a reason"),
        (cancels_itself, "the handler was cancelled from within"),
    ],
)
async def test_a_failing_handler_is_reported_and_the_next_call_is_answered(scripted, handler, message):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", handler, hook_id="bad")
    client.register_hook("PreToolUse", allow, hook_id="good")
    async with client:
        stream = await scripted.stream()
        await stream.ask("bad", 1)
        failed = await scripted.answer()
        await stream.ask("good", 2)
        went_on = await scripted.answer()
    assert failed.error.code == pb.ERROR_HANDLER
    assert failed.error.message.startswith(message)
    assert (went_on.call_id, went_on.HasField("error")) == (2, False)


async def test_an_invalid_payload_is_a_failure(scripted):
    client = TenterhookClient(address=scripted.socket)
    client.register_hook("PreToolUse", allow, hook_id="h")
    async with client:
        stream = await scripted.stream()
        asked = pb.HookEvent(
            hook_id="h", event_type="PreToolUse", event_id="E", call_id=1, payload=b"[1", timeout_ms=999
        )
        await stream.send(asked)
        assert "is not valid JSON" in (await scripted.answer()).error.message
        await stream.ask("who", 2)
        assert "no longer registered" in (await scripted.answer()).error.message


async def test_ready_raises_a_refusal_and_other_hooks_stay(scripted):
    client = TenterhookClient(address=scripted.socket)
    bad = client.register_hook("Nonsense", allow)
    good = client.register_hook("PreToolUse", allow)
    with pytest.raises(RefusedError) as refused:
        await client.ready()
    assert (refused.value.code, refused.value.message) == ("invalid", "`Nonsense` is no event")
    assert refused.value.hint == "try PreToolUse"
    assert {hook.hook_id: hook.state for hook in client.list_hooks()} == {bad: "refused", good: "registered"}
    await client.close()


# seed: 003-046
async def test_a_temporary_hook_exists_for_the_block_only(scripted):
    client = TenterhookClient(address=scripted.socket)
    async with client.temporary_hook("PreToolUse", allow) as hook_id:
        assert list(scripted.registered) == [hook_id]
    assert (scripted.registered, client.list_hooks()) == ({}, [])
    with pytest.raises(RefusedError):
        async with client.temporary_hook("Nonsense", allow):
            pytest.fail("it was refused")
    assert client.list_hooks() == []
    await client.close()


async def test_a_hook_unregistered_at_once_is_not_left_behind(scripted):
    client = TenterhookClient(address=scripted.socket)
    await client.ready()
    hook_id = client.register_hook("PreToolUse", allow)
    client.unregister_hook(hook_id)
    await asyncio.sleep(0.1)
    assert scripted.registered == {}
    await client.close()


@pytest.mark.parametrize(
    "arguments",
    [
        {"matcher": {"pathPattern": "*.env"}},
        {"matcher": {"tool": 7}},
        {"config": {"timeout": 3000}},
        {"config": {"timeout_ms": "3000"}},
        {"config": {"timeout_ms": 0}},
        {"config": {"priority": True}},
        {"config": {"fail_behavior": "closed"}},
        {"hook_id": "with blank"},
    ],
)
def test_invalid_options_are_refused_at_once(arguments):
    client = TenterhookClient()
    with pytest.raises(InvalidHookError):
        client.register_hook("PreToolUse", allow, **arguments)
    assert client.list_hooks() == []


async def test_a_missing_daemon_is_reported_with_a_hint(place):
    client = TenterhookClient(home=place, connect_timeout=0.3)
    with pytest.raises(NotConnectedError, match="no daemon runs in") as missing:
        await client.ready()
    assert "tenterhook start" in (missing.value.hint or "")
    await client.close()


async def test_another_stream_of_the_same_client_is_reported_and_not_replaced(scripted):
    client = TenterhookClient(address=scripted.socket, connect_timeout=1)
    await client.ready()
    (await scripted.stream()).close(grpc.StatusCode.ABORTED, "a newer stream")
    await asyncio.sleep(0.3)
    assert scripted.streams.empty(), "it came back"
    with pytest.raises(RefusedError, match="a newer stream"):
        await client.ready()
    await client.close()
