# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The results as Markdown tables.

    report.py FILE…              print the tables of earlier runs (`attacks.py --json FILE`)
    report.py --summary FILE…    print only totals and counts by group
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from attacks_table import ATTACKS
from work import WORK


def lines_of(record: dict, items: dict, wrappers: list[str], group) -> list[str]:
    lines = []
    for name, item in items.items():
        row = [record["results"][wrapper].get(name) for wrapper in wrappers]
        if not any(row):
            continue
        cells = [cell["result"].replace("PASSED", "**PASSED**").replace("FAILED", "**FAILED**") if cell else "–" for cell in row]
        summary = item.summary.replace("|", "\\|")
        lines.append(f"| {group(item)} | {name} | {summary} | {' | '.join(cells)} |")
    return lines


def table(record: dict) -> str:
    """One row per attack and per piece of work, one column per wrapper."""
    wrappers = list(record["results"])
    head = f"| group | name | attack | {' | '.join(wrappers)} |\n|---|---|---|{'---|' * len(wrappers)}"
    attacks = lines_of(record, ATTACKS, wrappers, lambda item: item.group)
    work = lines_of(record, WORK, wrappers, lambda item: "ordinary work")
    return "\n".join([head, *attacks, *work])


def count(record: dict, wrapper: str) -> dict[str, Counter]:
    """Results by kind: `breach`, `surface` and `work`."""
    counts: dict[str, Counter] = {"breach": Counter(), "surface": Counter(), "work": Counter()}
    for name, cell in record["results"][wrapper].items():
        kind = ATTACKS[name].kind if name in ATTACKS else "work"
        counts[kind][cell["result"]] += 1
    return counts


def totals(record: dict) -> str:
    lines = ["", "| wrapper | attacks held | PASSED | broken | n/a | system calls refused | reachable | work succeeds | fails | n/a |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for wrapper in record["results"]:
        breach, surface, work = count(record, wrapper).values()
        cells = [breach["held"], breach["PASSED"], breach["broken"], breach["n/a"], surface["held"] + surface["broken"], surface["PASSED"],
                 work["works"], work["FAILED"], work["n/a"]]
        lines.append(f"| {wrapper} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def groups(record: dict) -> str:
    """One row per group: how many attacks passed, of those that apply."""
    wrappers = list(record["results"])
    lines = [f"| group | attacks | {' | '.join(wrappers)} |", f"|---|---|{'---|' * len(wrappers)}"]
    for group in dict.fromkeys(item.group for item in ATTACKS.values()):
        names = [name for name, item in ATTACKS.items() if item.group == group]
        applicable = [name for name in names if record["results"]["none"].get(name, {}).get("result") == "PASSED"]
        cells = [str(sum(record["results"][wrapper][name]["result"] == "PASSED" for name in applicable)) for wrapper in wrappers]
        lines.append(f"| {group} | {len(applicable)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def problems(record: dict, must_hold: list[str], allowed: set[str]) -> list[str]:
    """Attacks that passed or did not start, and work that failed, in the wrappers that must hold."""
    found = []
    for wrapper in must_hold:
        if wrapper not in record["results"]:
            found.append(f"{wrapper}: unknown wrapper")
            continue
        for name, cell in record["results"][wrapper].items():
            is_surface = name in ATTACKS and ATTACKS[name].kind == "surface"
            if cell["result"] in ("PASSED", "broken", "FAILED") and not is_surface and name not in allowed:
                found.append(f"{wrapper}: {name}: {cell['result']}: {cell['evidence']}")
    for line in found:
        print(line, file=sys.stderr)
    return found


def main() -> None:
    arguments = sys.argv[1:]
    is_summary = "--summary" in arguments
    for argument in arguments:
        if argument != "--summary":
            record = json.loads(Path(argument).read_text())
            print("\n\n".join([totals(record).strip(), groups(record)] + ([] if is_summary else [table(record)])) + "\n")


if __name__ == "__main__":
    main()
