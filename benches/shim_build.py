#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""shim_build.py TENTERHOOK ORDINARY: what the special build of the hook program saves.

TENTERHOOK is the full program; the hook program that it installs is built by crates/hook-programs/build.rs. ORDINARY
is the same source, built by `cargo build --release -p tenterhook-shim`. One daemon in a temporary home answers both
programs. The programs alternate, so that noise affects both alike. Times are from spawn to exit.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 1000
WARM_UP_ROUNDS = 50
PAYLOAD = (
    b'{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/tmp","tool_name":"Bash",'
    b'"tool_input":{"command":"ls"},"tool_use_id":"t"}'
)


def call(program, environment, payload):
    """Microseconds of one hook call."""
    began = time.perf_counter_ns()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
    ]
    words = [program, "claude-code", "pre-tool-use"]
    process = os.posix_spawn(program, words, environment, file_actions=actions)
    _, status = os.waitpid(process, 0)
    took = (time.perf_counter_ns() - began) / 1000
    if status != 0:
        sys.exit(f"{program}: status {status}")
    return took


def main():
    tenterhook, ordinary = (os.path.abspath(path) for path in sys.argv[1:3])
    home = tempfile.mkdtemp(prefix="shim-build-")
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    run = lambda *words: subprocess.run([tenterhook, *words], env=environment, capture_output=True, check=True)
    run("install", "claude-code", "--yes")
    state = os.path.join(home, ".local/state/tenterhook")
    programs = {"special": os.path.join(state, "bin/tenterhook-hook"), "ordinary": os.path.join(state, "bin/ordinary")}
    shutil.copy(ordinary, programs["ordinary"])
    payload = os.path.join(home, "payload.json")
    with open(payload, "wb") as file:
        file.write(PAYLOAD)
    daemon = subprocess.Popen(
        [tenterhook, "serve", "--listen", "none", "--relaxed"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(3)
        taken = {name: [] for name in programs}
        for number in range(ROUNDS + WARM_UP_ROUNDS):
            for name, program in programs.items():
                took = call(program, environment, payload)
                if number >= WARM_UP_ROUNDS:
                    taken[name].append(took)
    finally:
        daemon.terminate()
        daemon.wait()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, times in taken.items():
        size = os.path.getsize(programs[name]) // 1024
        print(f"{name:<10} {size:>5} KiB  min {min(times):8.1f} µs  median {medians[name]:8.1f} µs")
    saved = statistics.median(b - a for a, b in zip(taken["special"], taken["ordinary"]))
    print(f"ordinary / special = {medians['ordinary'] / medians['special']:.2f}; median difference {saved:.1f} µs")
    shutil.rmtree(home)


main()
