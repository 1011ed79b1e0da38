#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Attack what is outside of a sandbox from inside, and check outside which attacks succeeded.

    attacks.py --wrapper NAME='COMMAND…' [--wrapper …] [--must-hold NAME] [--json FILE]

A wrapper is a command line that starts the command after it in a sandbox, for example
`--wrapper box='tenterhook run --sandbox --'`. `{home}`, `{project}` and `{here}` are replaced by the throw-away home, the
project in it and the directory of this program. The environment has HOME and PROJECT. Every attack runs as its own process:

    held      the attack had no effect
    PASSED    it had: a file changed, a secret was read, a listener got bytes, the daemon died
    n/a       it has no effect without a sandbox either, for this user on this kernel, and proves nothing
    broken    the wrapper did not start the attack; this is never counted as held

Attacks first run without a wrapper (`none`). Attacks of the group `kernel surface` are system calls that a sandbox may as
well refuse; they are counted apart. Then ordinary work runs, which has to succeed.

As root, the program works in namespaces of its own, with a metadata address and a copy of `/etc`; `--uid` names the user
that attacks. Attacks change nothing outside of these, of a directory in `/home` and of files in `/tmp` of that run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import host
import report
from attacks_table import ATTACKS
from registry import Attack
from stage import Stage
from work import WORK, Work

HERE = Path(__file__).resolve().parent
NONE = "none"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrapper", action="append", default=[], metavar="NAME=COMMAND", help="a sandbox to attack")
    parser.add_argument("--prepare", action="append", default=[], metavar="NAME=COMMAND",
                        help="run a command outside whenever the home was made, such as an installation")
    parser.add_argument("--version-of", action="append", default=[], metavar="NAME=COMMAND", help="a command that prints a version")
    parser.add_argument("--must-hold", action="append", default=[], metavar="NAME",
                        help="exit with 1 if an attack passed or could not start, or ordinary work failed, in this wrapper")
    parser.add_argument("--allow", action="append", default=[], metavar="ATTACK", help="an attack that may pass, by name")
    parser.add_argument("--only", default="", metavar="REGEX", help="run only attacks and work whose name or group matches")
    parser.add_argument("--uid", type=int, default=os.getuid(), help="the user that attacks; needs root (default: this user)")
    parser.add_argument("--python", default="/usr/bin/python3", help="the Python that runs inside")
    parser.add_argument("--json", type=Path, help="write the results to a file")
    parser.add_argument("--list", action="store_true", help="print the attacks and the ordinary work, and exit")
    parser.add_argument("--verbose", action="store_true", help="print each result with its evidence as it comes")
    return parser.parse_args()


def named(values: list[str], stage: Stage) -> dict[str, list[str]]:
    """Parse NAME=COMMAND arguments."""
    found = {}
    for value in values:
        name, separator, command = value.partition("=")
        if not separator or not name:
            sys.exit(f"expected NAME=COMMAND, found `{value}`")
        for word, path in (("{home}", stage.home), ("{project}", stage.project), ("{here}", HERE)):
            command = command.replace(word, str(path))
        found[name] = shlex.split(command)
    return found


def run_attack(stage: Stage, attack: Attack, wrapper: list[str], prepare: list[str] | None) -> dict:
    """Run one attack and check its effect."""
    stage.clean(prepare)
    program = str(stage.project / ".attack/bin/inside.py")
    command = [stage.python, program, "attack", attack.name, str(stage.project / ".attack/config.json")]
    began = time.monotonic()
    code = stage.launch(wrapper, command, attack.launch, attack.timeout_seconds)
    evidence = attack.check(stage)
    if evidence:
        result = "PASSED"
    elif not stage.started():
        result, evidence = "broken", stage.log_text().strip()[-200:] or f"exit code {code}"
    else:
        result, evidence = "held", stage.notes()[:200]
    if code is None:
        evidence = f"{evidence} (time limit)".strip()
    return {"result": result, "evidence": evidence, "seconds": round(time.monotonic() - began, 2)}


def run_work(stage: Stage, work: Work, wrapper: list[str], prepare: list[str] | None) -> dict:
    """Do one piece of ordinary work."""
    stage.clean(prepare)
    program = str(stage.project / ".attack/bin/inside.py")
    command = [stage.python, program, "work", work.name, str(stage.project / ".attack/config.json")]
    began = time.monotonic()
    code = stage.launch(wrapper, command, work.launch, work.timeout_seconds)
    problem = ""
    if work.exit_code == -1:
        problem = "" if b"got the signal" in stage.reports() else f"the command got no signal; exit code {code}"
    elif code != work.exit_code:
        problem = f"exit code {code}, expected {work.exit_code}: {stage.log_text().strip()[-200:]}"
    elif work.leaves and not (stage.project / work.leaves).exists():
        problem = f"`{work.leaves}` does not exist outside"
    return {"result": "FAILED" if problem else "works", "evidence": problem, "seconds": round(time.monotonic() - began, 2)}


def hide_run_names(text: str, stage: Stage) -> str:
    """Replace names that differ from run to run."""
    text = text.replace(str(stage.base), "BASE").replace(stage.run_id, "RUN")
    return re.sub(r"out-[0-9a-f]{6}", "out", text)


def run_all(stage: Stage, arguments: argparse.Namespace, record: dict) -> None:
    """Run everything in every wrapper. The file is written after each wrapper, so that a run that is ended is not lost."""
    wrappers = {NONE: [], **named(arguments.wrapper, stage)}
    prepares = named(arguments.prepare, stage)
    chosen = re.compile(arguments.only)
    attacks = [item for item in ATTACKS.values() if chosen.search(item.name) or chosen.search(item.group)]
    works = [item for item in WORK.values() if chosen.search(item.name) or chosen.search("ordinary work")]
    results: dict[str, dict[str, dict]] = record["results"]
    for name, wrapper in wrappers.items():
        prepare = prepares.get(name)
        stage.build(prepare)
        results[name] = {}
        for kind, items, run in (("attack", attacks, run_attack), ("work", works, run_work)):
            for item in items:
                base = results[NONE].get(item.name)
                if base and base["result"] == "n/a":
                    result = {"result": "n/a", "evidence": base["evidence"]}
                else:
                    try:
                        result = run(stage, item, wrapper, prepare)
                    except OSError as error:
                        result = {"result": "broken", "evidence": f"the runner failed: {error}"}
                if name == NONE and result["result"] in ("held", "broken", "FAILED"):
                    result["result"] = "n/a"
                result["evidence"] = hide_run_names(result["evidence"], stage)
                results[name][item.name] = result
                if arguments.verbose:
                    print(f"{name:12} {item.name:32} {result['result']:7} {result['evidence'][:150]}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(record) + "\n")


def first_version(output: str) -> str:
    """The first line with a number, without what comes before the version."""
    line = next((line for line in output.splitlines() if re.search(r"\d", line)), "")
    return line.removeprefix("Version:").strip()


def without_directories(command: str) -> str:
    """A command line without directories of this machine."""
    return re.sub(r"(?<![\w{}])/\S*/", "", command)


def print_list() -> None:
    for item in ATTACKS.values():
        print(f"{item.group:24} {item.name:32} {item.summary}")
    for item in WORK.values():
        print(f"{'ordinary work':24} {item.name:32} {item.summary}")


def describe_machine(stage: Stage) -> dict:
    return {"kernel": platform.release(), "machine": platform.machine(), "uid": stage.uid, "isolated": host.is_isolated()}


def main() -> int:
    arguments = parse_arguments()
    if arguments.list:
        print_list()
        return 0
    host.enter()
    stage = Stage(arguments.uid, arguments.python)
    try:
        versions = {}
        for name, command in named(arguments.version_of, stage).items():
            stage.project.mkdir(parents=True, exist_ok=True)
            versions[name] = first_version(stage.run_outside(command).stdout.decode(errors="replace"))
        record = {
            "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "kind": "sandbox", "ran_on": describe_machine(stage),
            "versions": versions, "results": {},
            "wrappers": {name: without_directories(command)
                         for name, _, command in (value.partition("=") for value in arguments.wrapper)},
        }
        run_all(stage, arguments, record)
    finally:
        stage.close()
    print(report.table(record))
    print(report.totals(record))
    return 1 if report.problems(record, arguments.must_hold, set(arguments.allow)) else 0


if __name__ == "__main__":
    sys.exit(main())
