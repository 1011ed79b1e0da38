# SPDX-License-Identifier: Apache-2.0 OR MIT
from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
import pytest_asyncio
from daemon import Daemon
from scripted import Scripted


@pytest.fixture
def place():
    """A temporary directory with a short path: socket paths have at most about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="th-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest_asyncio.fixture
async def scripted(place):
    server = await Scripted(place).start()
    yield server
    await server.stop()


@pytest.fixture
def daemon(place):
    """A real daemon in a temporary home."""
    with Daemon(place) as running:
        yield running
