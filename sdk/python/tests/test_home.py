# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where the client looks for the daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tenterhook import NotConnectedError
from tenterhook.home import Address, address_of, find_home


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has one place")
@pytest.mark.parametrize(
    ("said", "environment", "expected"),
    [
        ("/x", {"TENTERHOOK_HOME": "/y", "HOME": "/z"}, "/x"),
        (None, {"TENTERHOOK_HOME": "/y", "HOME": "/z"}, "/y"),
        (None, {"TENTERHOOK_HOME": "", "HOME": "/z"}, "/z/.local/state/tenterhook"),
        (None, {"XDG_STATE_HOME": "/s", "HOME": "/z"}, "/s/tenterhook"),
        (None, {"XDG_STATE_HOME": "not/absolute", "HOME": "/z"}, "/z/.local/state/tenterhook"),
    ],
)
def test_the_home(said, environment, expected):
    assert find_home(said, environment) == Path(expected)


def test_a_missing_home_is_reported():
    with pytest.raises(NotConnectedError, match="neither `HOME` nor `TENTERHOOK_HOME`"):
        find_home(None, {})


def test_the_socket_comes_first_and_a_port_is_not_a_fallback(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    with pytest.raises(NotConnectedError, match="no daemon runs"):
        address_of(tmp_path)
    (run / "daemon.json").write_text(json.dumps({"listen": "127.0.0.1:7878"}))
    (run / "token").write_text("secret\n")
    assert address_of(tmp_path) == Address("127.0.0.1:7878", "secret")
    (run / "tenterhook.sock").touch()
    assert address_of(tmp_path) == Address(f"unix:{run}/tenterhook.sock")


@pytest.mark.parametrize("card", ["", "no json", "[]", '{"listen": null}'])
def test_an_invalid_address_file_is_ignored(tmp_path, card):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "daemon.json").write_text(card)
    (tmp_path / "run" / "token").write_text("secret")
    with pytest.raises(NotConnectedError):
        address_of(tmp_path)
