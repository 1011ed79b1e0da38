#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""drift.py CACHE_DIR RUN_SCENARIOS TENTERHOOK OUT_DIR [CLIENT[@VERSION]...]

Compares the newest published version of each client in clients.txt with the pinned version. Installs the newest
version into CACHE_DIR, runs scenarios on it and prints what changed. If the newest version is the pinned one, the
client is run only if it is named on the command line. If the result of a scenario differs from matrix.txt, the
scenario is run again, and on the pinned version too. Only differences between the two versions are reported. Exits
with 1 if a scenario holds on the pinned version and not on the newest.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The first scenario also shows which events the client fires.
SCENARIOS = ["allow", "deny", "ask", "mcp", "mcp-names", "patch", "directory"]
REGISTRY_TIMEOUT_S = 60
INSTALL_TIMEOUT_S = 600
# A run of a client ends by itself after at most two minutes.
SCENARIOS_TIMEOUT_S = 150 * len(SCENARIOS)


def note(text):
    print(text, file=sys.stderr, flush=True)


def pinned_clients():
    rows = [line.split() for line in (HERE / "clients.txt").read_text().splitlines()]
    return {row[0]: (row[1], row[2], row) for row in rows if row and not row[0].startswith("#")}


def newest(package):
    found = subprocess.run(
        ["npm", "view", package, "version"], capture_output=True, text=True, timeout=REGISTRY_TIMEOUT_S, check=False
    )
    if found.returncode != 0:
        raise RuntimeError(f"npm view {package}: {found.stderr.strip().splitlines()[-1:]}")
    return found.stdout.strip()


def install(name, version, cache):
    installed = subprocess.run(
        ["sh", HERE / "install-client.sh", name, version, cache],
        stdout=subprocess.PIPE, text=True, timeout=INSTALL_TIMEOUT_S, check=True,
    )
    return installed.stdout.strip()


class Runner:
    def __init__(self, program, tenterhook, out):
        self.program, self.tenterhook, self.out = program, tenterhook, Path(out)

    def run(self, name, version, path, scenarios):
        """Runs scenarios and returns their results, by name."""
        environment = dict(os.environ, TENTERHOOK_BIN=self.tenterhook, TENTERHOOK_E2E_CLIENTS=f"{name}\t{path}")
        directory = self.out / f"{name}-{version}"
        results = {}
        with subprocess.Popen(
            [self.program, name, directory, *scenarios], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            deadline = time.monotonic() + SCENARIOS_TIMEOUT_S
            for line in process.stdout:
                result = json.loads(line)
                results[result["scenario"]] = result
                note(f"  {name} {version} {result['scenario']}: {'holds' if result['holds'] else 'does not hold'}")
                if time.monotonic() > deadline:
                    process.terminate()
                    break
        return results


def compare(runner, name, pinned, version, cache):
    """Returns lines that describe the changes, and the scenarios that no longer hold."""
    path = install(name, version, cache)
    results = runner.run(name, version, path, SCENARIOS)
    odd = [s for s in SCENARIOS if s not in results or results[s]["holds"] != results[s]["expected"]]
    lines, lost = [], []
    old = {}
    if version != pinned:
        # On the pinned version, `allow` shows which events fire. The other scenarios show whether the new
        # version causes the difference.
        old = runner.run(name, pinned, install(name, pinned, cache), ["allow", *[s for s in odd if s != "allow"]])
        events = [set(r.get("allow", {}).get("events", [])) for r in (old, results)]
        if events[0] - events[1]:
            lines.append(f"events no longer fired: {', '.join(sorted(events[0] - events[1]))}")
        if events[1] - events[0]:
            lines.append(f"events that are new: {', '.join(sorted(events[1] - events[0]))}")
    if odd:
        results.update(runner.run(name, version, path, odd))
    for scenario in odd:
        now = results.get(scenario, {})
        before = old.get(scenario, now)["holds"] if version != pinned and scenario in old else now.get("expected", True)
        if before and not now.get("holds"):
            lost.append(scenario)
            lines.append(f"{scenario}: held, does not hold ({now.get('story', 'no result')})")
        elif now.get("holds") and not before:
            lines.append(f"{scenario}: did not hold, holds")
        if now and not now["safe"]:
            lines.append(f"{scenario}: what must not happen has happened ({now['story']})")
            lost.append(scenario)
    return lines or ["no change"], lost


def main():
    cache, program, tenterhook, out, *wanted = sys.argv[1:]
    clients = pinned_clients()
    asked = dict(w.split("@", 1) if "@" in w else (w, "") for w in wanted)
    unknown = set(asked) - set(clients)
    if unknown:
        sys.exit(f"drift.py: no client {', '.join(sorted(unknown))} in clients.txt")
    runner = Runner(program, tenterhook, out)
    rows, failed = [], False
    for name, (package, pinned, row) in clients.items():
        if asked and name not in asked:
            continue
        if package.startswith("git:"):
            rows.append((name, pinned, "–", ["not on npm: its commit is changed by hand"]))
            continue
        started = time.monotonic()
        try:
            version = asked.get(name) or newest(package)
            note(f"{name}: {pinned} → {version}")
            if version == pinned and name not in asked:
                rows.append((name, pinned, version, ["the newest version is the pinned one"]))
                continue
            lines, lost = compare(runner, name, pinned, version, cache)
        except (RuntimeError, subprocess.SubprocessError) as error:
            rows.append((name, pinned, "?", [f"not compared: {error}"]))
            failed = True
            continue
        if version != pinned:
            lines.append(f"clients.txt: {' '.join([*row[:2], version, *row[3:]])}")
        lines[0] += f" ({time.monotonic() - started:.0f} s)"
        rows.append((name, pinned, version, lines))
        failed |= bool(lost)
    for name, pinned, version, lines in rows:
        print(f"{name:<12} {pinned:>9} → {version:<9}  {lines[0]}")
        for line in lines[1:]:
            print(f"{'':<12} {'':>9}   {'':<9}  {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
