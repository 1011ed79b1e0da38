#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measure what a sandbox costs: the start of `true`, and the system calls of a `cargo build`.

    measure.py --tenterhook PROGRAM [--starts 200] [--json FILE]

Starts without and with the sandbox take turns in one run, so that both see the same load. The system calls are those of the
same build of a small crate, outside and inside, counted by `strace -f -c`; without `cargo` or `strace` they are left out.
Everything happens in a throw-away home directory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenterhook", required=True, type=Path, help="the program")
    parser.add_argument("--starts", type=int, default=200, help="starts of each kind")
    parser.add_argument("--builds", type=int, default=3, help="builds of each kind; 0 for none")
    parser.add_argument("--json", type=Path, help="write the results to a file")
    return parser.parse_args()


def environment(home: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN") if name in os.environ}
    # The throw-away home has no toolchain; without one, `cargo` would fail and its system calls would be counted all the same.
    toolchains = Path.home() / ".rustup"
    if toolchains.is_dir():
        passed.setdefault("RUSTUP_HOME", str(toolchains))
    return passed | {"HOME": str(home), "TERM": "dumb"}


def time_of(command: list[str], project: Path, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=project, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return (time.perf_counter() - began) * 1000


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {"p50": round(statistics.median(ordered), 2), "p95": round(ordered[int(len(ordered) * 0.95) - 1], 2),
            "least": round(ordered[0], 2)}


# Directories that the default profile lets a run write. A run creates and removes those that are missing.
CACHES = (".cache/go-build", ".cache/node-gyp", ".cache/pip", ".cache/pnpm", ".cache/pypoetry/artifacts", ".cache/pypoetry/cache",
          ".cache/uv/environments-v2", ".cache/yarn", ".cargo/git", ".cargo/registry", ".config/tenterhook", ".local/share/pnpm/store",
          ".local/state/pnpm", ".npm/_npx", ".yarn/berry/cache", "go/pkg")


def measure_starts(sandboxed: list[str], home: Path, env: dict[str, str], count: int) -> dict:
    """Starts of `true`, also in a home whose toolchains were used before."""
    used = home / "used"
    for name in (*CACHES, "project"):
        (used / name).mkdir(parents=True)
    command = [*sandboxed, "/bin/true"]
    kinds = {"bare": (["/bin/true"], home), "bubblewrap": (bubblewrap(), home), "sandboxed": (command, home),
             "sandboxed_in_used_home": (command, used)}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(count + 1):
        for name, (command, directory) in kinds.items():
            taken = time_of(command, directory / "project", env | {"HOME": str(directory)})
            # The first start compiles the rules.
            if turn:
                times[name].append(taken)
    found = {name: summary(values) for name, values in times.items()}

    def over_bare(name: str) -> dict[str, float]:
        return summary([inside - outside for inside, outside in zip(times[name], times["bare"], strict=True)])

    return {"milliseconds": found, "over_bare": over_bare("sandboxed"), "over_bare_in_used_home": over_bare("sandboxed_in_used_home")}


def bubblewrap() -> list[str]:
    """The smallest sandbox with the same namespaces, as a lower limit."""
    return ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL",
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/bin/true"]


def calls_in(report: str) -> tuple[int, int]:
    """The total of a table that `strace -c` printed, and the part without waits for other threads, which vary with the load."""
    rows = [line.split() for line in report.splitlines()]
    counts = {row[-1]: int(row[3]) for row in rows if len(row) > 4 and row[0].replace(".", "").isdigit()}
    return counts["total"], counts["total"] - counts.get("futex", 0)


def measure_calls(sandboxed: list[str], home: Path, project: Path, env: dict[str, str], count: int) -> dict:
    (project / "src").mkdir()
    (project / "Cargo.toml").write_text('[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    (project / "src/main.rs").write_text('fn main() { println!("42"); }\n')
    env = env | {"CARGO_HOME": str(home / ".cargo"), "CARGO_BUILD_JOBS": "1", "CARGO_NET_OFFLINE": "true"}
    script = "rm -rf target Cargo.lock counts; strace -f -c -o counts cargo build --offline -q && test -x target/debug/tiny && cat counts"
    counts: dict[str, list[tuple[int, int]]] = {"outside": [], "inside": []}
    # The first build of each kind fills caches.
    for turn in range(count + 1):
        for name, prefix in (("outside", []), ("inside", sandboxed)):
            done = subprocess.run([*prefix, "sh", "-c", script], cwd=project, env=env, check=True, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL)
            if turn:
                counts[name].append(calls_in(done.stdout))
    def difference(at: int) -> float:
        outside, inside = (statistics.median(pair[at] for pair in counts[name]) for name in ("outside", "inside"))
        return round((inside - outside) / outside * 100, 2)

    return {"calls_and_calls_without_futex": counts, "difference_percent": difference(0), "without_futex_percent": difference(1)}


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="measure-", dir="/var/tmp") as directory:
        home = Path(directory, "home")
        project = home / "project"
        project.mkdir(parents=True)
        env = environment(home)
        sandboxed = [str(arguments.tenterhook.resolve()), "run", "--sandbox", "--network", "none", "--"]
        record = {
            "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "kind": "sandbox-cost",
            "ran_on": {"kernel": platform.release(), "machine": platform.machine(), "processors": os.cpu_count(),
                       "load": round(os.getloadavg()[0], 1)},
            "account": os.geteuid(), "starts": arguments.starts, "start": measure_starts(sandboxed, home, env, arguments.starts),
        }
        if arguments.builds and shutil.which("cargo") and shutil.which("strace"):
            record["cargo_build"] = measure_calls(sandboxed, home, project, env, arguments.builds)
    print(json.dumps(record, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(record) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
