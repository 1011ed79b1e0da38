# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of attacks and of ordinary work. The runner and the program inside of the sandbox read the same table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# What attackers write; the checks look for it.
MARK = b"PWNED"

# A check gets the stage (see `stage.py`) after the sandbox ended and returns evidence, or "" if nothing happened.
Check = Callable[[Any], str]


@dataclass(frozen=True)
class Attack:
    """One attempt. `run` is called inside of the sandbox, `check` outside after the sandbox ended."""

    name: str
    group: str
    summary: str
    run: Callable[[Any], None]
    check: Check
    # "breach": something outside changed or leaked. "surface": a system call that a sandbox may as well refuse.
    kind: str = "breach"
    timeout_seconds: float = 12.0
    # Options of the launch: "inherit" passes open descriptors, "kill-wrapper" kills the wrapper while the attack runs.
    launch: frozenset[str] = field(default_factory=frozenset)


ATTACKS: dict[str, Attack] = {}


def attack(group: str, summary: str, check: Check, **options: Any) -> Callable[[Callable[[Any], None]], Any]:
    """Register the decorated function as an attack. Its name is the function's with dashes."""

    def register(function: Callable[[Any], None]) -> Callable[[Any], None]:
        add(function.__name__.strip("_").replace("_", "-"), group, summary, function, check, **options)
        return function

    return register


def add(name: str, group: str, summary: str, run: Callable[[Any], None], check: Check, **options: Any) -> None:
    """Register an attack by name; for attacks that differ only in a value."""
    if name in ATTACKS:
        raise ValueError(f"two attacks are called `{name}`")
    options["launch"] = frozenset(options.get("launch", ()))
    ATTACKS[name] = Attack(name, group, summary, run, check, **options)


# ---- checks ----

def changed(*names: str) -> Check:
    """A guard file has other bytes, another kind or another mode than before."""
    return lambda stage: "; ".join(filter(None, (stage.difference(name) for name in names)))


def planted(path: str) -> Check:
    """A file below the home has the attacker's mark."""
    return lambda stage: f"`~/{path}` has the attacker's text" if MARK in stage.read_outside(path) else ""


def leaked(secret: str) -> Check:
    """The attacker's report has a secret."""
    return lambda stage: f"secret `{secret}` was read" if stage.secrets[secret] in stage.reports() else ""


def received(*listeners: str) -> Check:
    """A listener outside got bytes from the attacker."""
    return lambda stage: "; ".join(
        f"{name} got {stage.listeners.received[name][:24]!r}"
        for name in listeners if stage.listeners.received.get(name))


def reported(word: bytes = b"OK") -> Check:
    """The attacker reports that the call succeeded. For effects that only the attacker sees."""
    return lambda stage: "the call succeeded" if word in stage.reports() else ""
