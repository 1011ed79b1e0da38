# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a hook round trip and a bare gRPC echo, alternating in one run. Raw samples are stored in benches/runs.

The baseline is the faster of two echoes, on an open stream like calls of hooks. The time of a hook is measured by the
daemon, from its call to the answer; `fire` is the time an agent waits, including rules and record.

TENTERHOOK_BIN names the program, which should be an optimised build.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from tenterhook import HookResponse, PreToolUseEvent, TenterhookClient

ROUNDS, CALLS = 40, 50
LIMIT = 1.5
RUNS = Path(__file__).resolve().parents[3] / "benches" / "runs"
EVENT = PreToolUseEvent(session_id="s", tool="Bash", args={"command": "ls -l"})

Samples = dict[str, list[float]]


async def timed(call: Callable[[], Awaitable[Any]], into: list[float]) -> None:
    for _ in range(CALLS):
        began = time.perf_counter_ns()
        await call()
        into.append(time.perf_counter_ns() - began)


async def measure(home: Path, echo: str) -> Samples:
    names = (
        "bare: unary echo",
        "bare: echo on a stream",
        "fire: no hook",
        "fire: one hook",
        "hook: asked and answered",
    )
    samples: Samples = {name: [] for name in names}
    payload = json.dumps(EVENT.payload()).encode()
    async with grpc.aio.insecure_channel(f"unix:{echo}") as channel, TenterhookClient(home=home) as client:
        unary: Any = channel.unary_unary("/Echo/Unary")
        stream: Any = channel.stream_stream("/Echo/Stream")()

        async def once() -> None:
            await stream.write(payload)
            await stream.read()

        async def allow(event: PreToolUseEvent) -> HookResponse:
            return HookResponse.continue_()

        async def asked() -> None:
            outcome = await client.fire(EVENT)
            (step,) = (step for step in outcome.outcome["trace"] if step["by"] == "hook:allow")
            samples["hook: asked and answered"].append(step["took_us"] * 1000)

        for number in range(ROUNDS + 1):
            if number == 1:
                for each in samples.values():
                    each.clear()  # the first round only warms up
            await timed(lambda: unary(payload), samples["bare: unary echo"])
            await timed(once, samples["bare: echo on a stream"])
            await timed(lambda: client.fire(EVENT), samples["fire: no hook"])
            client.register_hook("PreToolUse", allow, hook_id="allow")
            await client.ready()
            await timed(asked, samples["fire: one hook"])
            await client.unregister_hook("allow")
        stream.cancel()
    return samples


def report(samples: Samples) -> tuple[list[dict[str, Any]], bool]:
    floor = statistics.median(samples["bare: echo on a stream"])
    results = []
    print(f"{'CASE':<28} {'MIN':>9} {'MEDIAN':>9} {'P95':>9} {'x ECHO':>7}")
    for name, values in samples.items():
        ordered = sorted(values)
        median, p95 = statistics.median(values), ordered[int(len(ordered) * 0.95)]
        shown = "".join(f"{number / 1000:>7.0f} us" for number in (ordered[0], median, p95))
        print(f"{name:<28}{shown} {median / floor:>7.2f}")
        results.append(
            {"name": f"python {name}", "min_ns": ordered[0], "median_ns": median, "p95_ns": p95, "samples_ns": values}
        )
    ratio = statistics.median(samples["hook: asked and answered"]) / floor
    print(f"\na hook round trip is {ratio:.2f} x a bare echo; the limit is {LIMIT} x")
    return results, ratio <= LIMIT


def keep(results: list[dict[str, Any]]) -> None:
    now = datetime.now(timezone.utc)
    ran_on = {
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        "grpcio": grpc.__version__,
    }
    path = RUNS / f"{now:%Y-%m-%dT%H-%M-%SZ}-sdk-python.json"
    run = {"at": f"{now:%Y-%m-%dT%H:%M:%SZ}", "ran_on": ran_on, "results": results}
    path.write_text(json.dumps(run) + "\n")
    print(f"raw runs: benches/runs/{path.name}")


def main() -> int:
    program = os.environ.get("TENTERHOOK_BIN")
    if not program:
        print("TENTERHOOK_BIN is not set: run `make sdk-python-bench`")
        return 1
    with tempfile.TemporaryDirectory(prefix="th-") as room:
        home, user, socket = Path(room, "home"), Path(room, "user"), str(Path(room, "echo.sock"))
        for path in (home, user):
            path.mkdir(mode=0o700)
        environment = {"PATH": os.environ["PATH"], "HOME": str(user), "TENTERHOOK_HOME": str(home)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        daemon = subprocess.Popen([program, "serve", "--listen", "none", "--relaxed"], env=environment, **pipes)  # type: ignore[call-overload]
        echo = subprocess.Popen([sys.executable, str(Path(__file__).parent / "echo.py"), socket], **pipes)  # type: ignore[call-overload]
        try:
            daemon.stdout.readline()
            echo.stdout.readline()
            samples = asyncio.run(measure(home, socket))
        finally:
            daemon.terminate()
            echo.stdin.close()
            daemon.wait()
            echo.wait()
    results, holds = report(samples)
    keep(results)
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
