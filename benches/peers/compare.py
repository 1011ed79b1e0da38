#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare Tenterhook with other guards for Claude Code: time of one hook call, and verdicts on a corpus.

    compare.py install DIR             install the pinned versions of the other guards in DIR
    compare.py run DIR --tenterhook BIN --corpus FILE --out FILE

Each guard is called as Claude Code calls it: a PreToolUse payload on standard input, the decision on standard
output. The guards run with HOME=/home/user on an empty file system that is mounted over /home in a mount
namespace of this process, so that no setting of the machine is read or written. `run` therefore needs root or
unprivileged user namespaces.

nah 1.x is not on a package registry: set NAH_SOURCE to a clone to include it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

CC_SAFETY_NET = "2.4.5"
NAH_PYTHON = "0.11.0"
LATENCY_ROUNDS = int(os.environ.get("ROUNDS", "200"))
WARM_UP_ROUNDS = 5
HOOK_TIMEOUT_SECONDS = 20
LATENCY_COMMAND = "git status --short"
PROJECT = "/home/user/project"
# The guards are visible here after an empty file system was mounted over /home.
STAGE = Path("/mnt")
REPOSITORY = Path(__file__).resolve().parents[2]


def install(directory: Path) -> None:
    """Install each guard from its registry, unless it is installed already."""
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / "cc-safety-net").exists():
        call("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", directory / "cc-safety-net",
             f"cc-safety-net@{CC_SAFETY_NET}")
    if not (directory / "nah-python").exists():
        call(sys.executable, "-m", "venv", "--copies", directory / "nah-python")
        call(directory / "nah-python/bin/pip", "install", "--quiet", f"nah=={NAH_PYTHON}")
    source = os.environ.get("NAH_SOURCE")
    if source and not (directory / "nah/bin/nah").exists():
        call("cargo", "build", "--quiet", "--release", "--locked", "-p", "nah-cli", "--target-dir",
             directory / "nah/target", cwd=source)
        (directory / "nah/bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(directory / "nah/target/release/nah", directory / "nah/bin/nah")
        shutil.rmtree(directory / "nah/target")


def call(*words: object, cwd: str | None = None) -> None:
    subprocess.run([str(word) for word in words], check=True, cwd=cwd)


def run(arguments: argparse.Namespace) -> None:
    """Measure in a separate mount namespace and write the raw run."""
    if os.environ.get("TENTERHOOK_PEERS_STAGED") != "1":
        enter_namespace()
    # These files are opened before /home is covered, because the checkout may be below /home.
    corpus = [json.loads(line) for line in Path(arguments.corpus).read_text().splitlines()]
    out = open(arguments.out, "w", encoding="utf-8")
    cover_home(Path(arguments.directory), Path(arguments.tenterhook))
    guards = prepare_guards()
    payload = Path("/home/user/payload.json")
    payload.write_text(hook_payload(LATENCY_COMMAND))
    times = measure_latency(guards, payload)
    verdicts = {name: judge_corpus(name, command, corpus) for name, command in guards.items() if name != FLOOR}
    report = {
        "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "ran_on": {"cores": os.cpu_count(), "kernel": platform.release(), "load": list(os.getloadavg())},
        "guards": {name: version_of(name) for name in guards},
        "latency_ns": times,
        "corpus": {"file": Path(arguments.corpus).name, "verdicts": verdicts},
    }
    subprocess.run([str(STAGE / "tenterhook/tenterhook"), "stop", "--yes"], env=environment(), capture_output=True)
    print_report(report, [line["bad"] for line in corpus])
    with out:
        out.write(json.dumps(report) + "\n")
    print(f"\nraw run: {arguments.out}")


FLOOR = "static C program"


def enter_namespace() -> None:
    """Start this program again as root in a mount namespace."""
    flags = ["--mount", "--pid", "--fork", "--mount-proc"]
    if os.geteuid() != 0:
        flags += ["--user", "--map-root-user"]
    # Paths are made absolute: the working directory may be below /home.
    words = [os.path.abspath(word) if os.path.exists(word) else word for word in sys.argv[1:]]
    os.environ["TENTERHOOK_PEERS_STAGED"] = "1"
    os.execvp("unshare", ["unshare", *flags, sys.executable, os.path.abspath(sys.argv[0]), *words])


def cover_home(directory: Path, program: Path) -> None:
    """Show the guards below STAGE, then mount an empty file system over /home."""
    # The process has id 1 in its namespace, so the id does not tell two runs apart.
    floor = Path(tempfile.mkdtemp(prefix="tenterhook-floor-")) / "floor"
    call("cc", "-O2", "-static", "-o", floor, REPOSITORY / "benches/c/reader.c")
    call("mount", "-t", "tmpfs", "tmpfs", STAGE)
    for name, source in (("peers", directory.resolve()), ("tenterhook", program.resolve().parent)):
        (STAGE / name).mkdir()
        call("mount", "--bind", source, STAGE / name)
    shutil.move(str(floor), STAGE / "floor")
    floor.parent.rmdir()
    call("mount", "-t", "tmpfs", "tmpfs", "/home")
    os.makedirs(PROJECT)
    os.chdir(PROJECT)
    call("git", "init", "--quiet", PROJECT)


def environment() -> dict[str, str]:
    return {"HOME": "/home/user", "PATH": os.environ["PATH"], "TERM": "dumb"}


def prepare_guards(with_peers: bool = True) -> dict[str, list[str]]:
    """The command that Claude Code would start for each guard."""
    tenterhook = str(STAGE / "tenterhook/tenterhook")
    os.makedirs("/home/user/.claude")
    subprocess.run([tenterhook, "install", "claude-code", "--yes"], env=environment(), check=True, capture_output=True)
    subprocess.run([tenterhook, "start"], env=environment(), check=True, capture_output=True)
    settings = json.loads(Path("/home/user/.claude/settings.json").read_text())
    entry = settings["hooks"]["PreToolUse"][0]["hooks"][0]
    peers = STAGE / "peers"
    guards = {
        FLOOR: [str(STAGE / "floor")],
        "tenterhook": [entry["command"]],
        "cc-safety-net": ["node", str(peers / "cc-safety-net/node_modules/cc-safety-net/dist/bin/cc-safety-net.js"),
                          "hook", "--claude-code"],
        "nah": [str(peers / "nah/bin/nah"), "hook", "claude", "run"],
        "nah (Python)": [str(peers / "nah-python/bin/python"), "-m", "nah.hook"],
    }
    # Claude Code passes each command to a shell. The command of the installed hook is already quoted for a
    # shell.
    here = {name: command for name, command in guards.items() if name == "tenterhook" or shutil.which(command[0])}
    for name in guards.keys() - here.keys() if with_peers else ():
        print(f"SKIPPED: {name} is not installed", file=sys.stderr)
    quoted = {name: command[0] if name == "tenterhook" else shlex.join(command) for name, command in here.items()}
    return {name: ["/bin/sh", "-c", text] for name, text in quoted.items()}


def version_of(name: str) -> str:
    return {"cc-safety-net": CC_SAFETY_NET, "nah (Python)": NAH_PYTHON}.get(name) or {
        "tenterhook": lambda: first_line(str(STAGE / "tenterhook/tenterhook"), "--version"),
        "nah": lambda: first_line(str(STAGE / "peers/nah/bin/nah"), "--version"),
    }.get(name, lambda: "")()


def first_line(*words: str) -> str:
    return subprocess.run(words, env=environment(), capture_output=True, text=True).stdout.split("\n")[0]


def hook_payload(command: str) -> str:
    return json.dumps({
        "session_id": "5c3f0a5e-6d1b-4e57-9d0e-2f1b8f1f8f10",
        "transcript_path": "/home/user/.claude/projects/project/transcript.jsonl",
        "cwd": PROJECT,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "run a command"},
        "tool_use_id": "toolu_01Bench",
    })


def measure_latency(guards: dict[str, list[str]], payload: Path) -> dict[str, list[int]]:
    """Time from spawn to exit. Each round runs every guard once, so that noise affects all of them alike."""
    times: dict[str, list[int]] = {name: [] for name in guards}
    for round_number in range(WARM_UP_ROUNDS + LATENCY_ROUNDS):
        for name, command in guards.items():
            began = time.perf_counter_ns()
            child = os.posix_spawn(command[0], command, environment(), file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, str(payload), os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
            ])
            os.waitpid(child, 0)
            if round_number >= WARM_UP_ROUNDS:
                times[name].append(time.perf_counter_ns() - began)
    return times


def judge_corpus(name: str, command: list[str], corpus: list[dict]) -> list[str]:
    """One verdict for each line of the corpus: none, ask, deny or error."""
    verdicts = []
    for number, line in enumerate(corpus, 1):
        if sys.stderr.isatty():
            print(f"\r{name}: {number} of {len(corpus)} ", end="", file=sys.stderr)
        verdicts.append(verdict_of(command, line["command"]))
    return verdicts


def verdict_of(command: list[str], text: str) -> str:
    try:
        ran = subprocess.run(command, input=hook_payload(text), env=environment(), capture_output=True, text=True,
                             timeout=HOOK_TIMEOUT_SECONDS, cwd=PROJECT)
    except subprocess.TimeoutExpired:
        return "error"
    if ran.returncode == 2:
        return "deny"
    if ran.returncode != 0:
        return "error"
    try:
        reply = json.loads(ran.stdout or "{}")
    except json.JSONDecodeError:
        return "error"
    if reply.get("decision") == "block":
        return "deny"
    decision = reply.get("hookSpecificOutput", {}).get("permissionDecision", "none")
    return decision if decision in ("ask", "deny") else "none"


def print_report(report: dict, bad: list[bool]) -> None:
    floor = statistics.median(report["latency_ns"][FLOOR])
    print(f"{'GUARD':<20}{'MEDIAN':>10}{'P95':>10}{'x FLOOR':>9}{'STOPPED':>16}{'FALSE ALARMS':>16}{'ERRORS':>8}")
    for name, times in report["latency_ns"].items():
        median = statistics.median(times)
        p95 = sorted(times)[int(len(times) * 0.95)]
        line = f"{name:<20}{median / 1e6:>7.2f} ms{p95 / 1e6:>7.2f} ms{median / floor:>9.1f}"
        verdicts = report["corpus"]["verdicts"].get(name)
        if verdicts:
            flagged = [verdict in ("ask", "deny") for verdict in verdicts]
            stopped = sum(is_bad and is_flagged for is_bad, is_flagged in zip(bad, flagged))
            alarms = sum(not is_bad and is_flagged for is_bad, is_flagged in zip(bad, flagged))
            line += share(stopped, sum(bad)) + share(alarms, len(bad) - sum(bad)) + f"{verdicts.count('error'):>8}"
        print(line)


def share(part: int, whole: int) -> str:
    return f"{f'{part}/{whole}':>10} {100 * part / max(whole, 1):>3.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("install")
    one.add_argument("directory")
    two = verbs.add_parser("run")
    two.add_argument("directory")
    two.add_argument("--tenterhook", required=True)
    two.add_argument("--corpus", required=True)
    two.add_argument("--out", required=True)
    arguments = parser.parse_args()
    if arguments.verb == "install":
        install(Path(arguments.directory))
    else:
        run(arguments)


if __name__ == "__main__":
    main()
