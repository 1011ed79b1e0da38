# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds the daemon of this user account. Only this module reads the environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .errors import NotConnectedError


@dataclass(frozen=True)
class Address:
    """Address of a daemon."""

    target: str
    """Target in the format of gRPC."""
    token: str | None = None
    """Token for TCP."""


def find_home(home: str | os.PathLike[str] | None, environment: Mapping[str, str] | None = None) -> Path:
    """Returns the given state directory, or else `TENTERHOOK_HOME`, or else the platform's default."""
    env = os.environ if environment is None else environment
    if home is not None:
        return Path(home).absolute()
    if configured := env.get("TENTERHOOK_HOME"):
        return Path(configured).absolute()
    user = env.get("HOME")
    if not user:
        raise NotConnectedError(
            "neither `HOME` nor `TENTERHOOK_HOME` is set",
            hint="set `TENTERHOOK_HOME`, or pass the state directory: TenterhookClient(home=...)",
        )
    if sys.platform == "darwin":
        return Path(user, "Library/Application Support/Tenterhook")
    state = env.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else Path(user, ".local/state")) / "tenterhook"


def address_of(home: Path) -> Address:
    """Returns the address of a state directory's daemon: its socket or, if there is no socket, its TCP port. The
    address is looked up for each connection, because a restarted daemon may have another port.

    If the socket exists but does not answer, the port is not tried: the port of a dead daemon may belong to another
    program, which would receive the token.
    """
    socket = home / "run" / "tenterhook.sock"
    if socket.exists():
        return unix(socket)
    listen, token = _listen(home / "run" / "daemon.json"), token_of(home)
    if listen and token:
        return Address(listen, token)
    raise NotConnectedError(f"no daemon runs in `{home}`", hint="start it with `tenterhook start`")


def unix(socket: Path) -> Address:
    """Returns the address of a socket, whose path may contain blanks and quotes."""
    return Address(f"unix:{quote(str(socket))}")


def token_of(home: Path) -> str | None:
    """Returns the token for the TCP port, if this account may read it."""
    return _text(home / "run" / "token")


def _listen(path: Path) -> str | None:
    text = _text(path)
    if text is None:
        return None
    try:
        listen = json.loads(text).get("listen")
    except (ValueError, AttributeError):
        return None
    return listen if isinstance(listen, str) else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
