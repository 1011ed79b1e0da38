#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measure hook calls of a machine in a fleet whose message bus accepts connections but never answers.

    black_hole.py --tenterhook BIN --fleet BIN --out FILE [--runs N] [--calls N]

Runs without and with the fleet alternate, so that both meet the same load of the machine. Each call starts the hook
program that `install` set up, as a client does. The result has every sample. Exit code 1: the median p99 with the
fleet is more than 20 percent above the one without.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

MAX_RATIO = 1.2
CONNECTOR_START_SECONDS = 30


def seed_text(seed: bytes) -> str:
    """Returns a seed of a user in the text form of NATS."""
    body = bytes([144 | (160 >> 5), (160 & 31) << 3]) + seed
    crc = 0
    for byte in body:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return base64.b32encode(body + crc.to_bytes(2, "little")).decode().rstrip("=")


def enrol(state: Path, fleet: Path, port: int) -> None:
    """Writes the files of a machine in a fleet; the enrolment last, because it starts the connector."""
    directory = state / "fleet"
    directory.mkdir(mode=0o700, exist_ok=True)
    credentials = {"nats": [f"nats://127.0.0.1:{port}"], "user_jwt": "x", "issued": 0, "expires": 10**9, "ring": "default"}
    enrolment = {
        "v": 1, "server": f"http://127.0.0.1:{port}", "machine": "m" + "a" * 26, "tenant": "default",
        "instance_seed": "0" * 32, "origin": "o", "witness": "w", "joined": 1, "program": str(fleet),
    }
    for name, text in [
        ("machine.key", seed_text(bytes(32))),
        ("credentials.json", json.dumps({"received": int(time.time()), "credentials": credentials})),
        ("enrolment.json", json.dumps(enrolment)),
    ]:
        file = directory / (name + ".new")
        file.write_text(text)
        file.chmod(0o600)
        file.rename(directory / name)


def connectors(daemon: int) -> list[int]:
    """Returns the connectors that the daemon runs."""
    found = []
    for task in Path(f"/proc/{daemon}/task").iterdir():
        for pid in (task / "children").read_text().split():
            if b"tenterhook-fleet" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


def wait_for(what: str, holds) -> None:
    end = time.monotonic() + CONNECTOR_START_SECONDS
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"timeout: {what}")
        time.sleep(0.05)


def measure(hook: Path, env: dict[str, str], payload: bytes, calls: int) -> list[int]:
    """Returns the time of each call, in microseconds."""
    samples = []
    for _ in range(calls):
        began = time.perf_counter_ns()
        ran = subprocess.run([hook, "claude-code", "PreToolUse"], input=payload, env=env, capture_output=True)
        samples.append((time.perf_counter_ns() - began) // 1000)
        if ran.returncode != 0 or ran.stdout:
            sys.exit(f"unexpected reply: {ran.returncode} {ran.stdout!r} {ran.stderr!r}")
    return samples


def p99(samples: list[int]) -> int:
    return sorted(samples)[max(0, len(samples) * 99 // 100 - 1)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenterhook", type=Path, required=True)
    parser.add_argument("--fleet", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200)
    args = parser.parse_args()
    program, fleet = args.tenterhook.resolve(), args.fleet.resolve()
    black_hole = socket.create_server(("127.0.0.1", 0), backlog=64)
    port = black_hole.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        state = Path(home) / "state"
        env = {"PATH": "/usr/bin:/bin", "HOME": home, "TENTERHOOK_HOME": str(state)}
        (Path(home) / ".claude").mkdir()
        subprocess.run([program, "install", "claude-code", "--yes"], env=env, check=True, capture_output=True)
        hook = state / "bin" / "tenterhook-hook"
        daemon = subprocess.Popen([program, "serve", "--listen", "none"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            daemon.stdout.readline()
            payload = json.dumps({
                "session_id": "s", "transcript_path": "/nonexistent", "cwd": home, "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": {"command": "git status --short"},
            }).encode()
            measure(hook, env, payload, 20)
            runs = []
            for _ in range(args.runs):
                for with_fleet in [False, True]:
                    if with_fleet:
                        enrol(state, fleet, port)
                        wait_for("the connector starts", lambda: connectors(daemon.pid))
                    samples = measure(hook, env, payload, args.calls)
                    if with_fleet:
                        if not connectors(daemon.pid):
                            sys.exit("the connector ended during the run")
                        (state / "fleet" / "enrolment.json").unlink()
                        wait_for("the connector ends", lambda: not connectors(daemon.pid))
                    runs.append({"fleet": with_fleet, "p99_us": p99(samples), "median_us": int(statistics.median(samples)), "samples_us": samples})
        finally:
            daemon.terminate()
            daemon.wait()
    median = {kind: statistics.median(run["p99_us"] for run in runs if run["fleet"] == kind) for kind in (False, True)}
    ratio = median[True] / median[False]
    result = {
        "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "what": "hook call with the message bus of the fleet black-holed",
        "ran_on": {"cores": os.cpu_count(), "kernel": platform.release(), "load": Path("/proc/loadavg").read_text().strip()},
        "median_p99_us": {"without": median[False], "with": median[True]},
        "ratio": round(ratio, 3), "limit": MAX_RATIO, "runs": runs,
    }
    args.out.write_text(json.dumps(result) + "\n")
    print(f"median p99 without {median[False]:.0f} us, with {median[True]:.0f} us, ratio {ratio:.3f}")
    return 0 if ratio <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
