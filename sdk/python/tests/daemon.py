# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A real daemon in a separate home. `TENTERHOOK_BIN` is the program; without it tests fail, because a skipped
test of a guard looks like a passed one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from tenterhook import TenterhookClient


def program():
    path = os.environ.get("TENTERHOOK_BIN")
    assert path, "TENTERHOOK_BIN is not set: run `make sdk-python`"
    assert Path(path).is_file(), f"TENTERHOOK_BIN names no file: {path}"
    return path


class Daemon:
    def __init__(self, place, *, listen="none", settings=None):
        self.user_home = place / "user"
        self.home = place / "home"
        self.project = place / "project"
        self._listen = listen
        self._log = place / "serve.log"
        for path in (self.user_home, self.home, self.project):
            path.mkdir(exist_ok=True, mode=0o700)
        if settings is not None:
            (self.home / "tenterhook.yaml").write_text(json.dumps(settings))
        self._process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def environment(self):
        path = os.environ["PATH"]
        return {"HOME": str(self.user_home), "PATH": path, "TENTERHOOK_HOME": str(self.home)}

    def start(self):
        """Starts the daemon and waits until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program(), "serve", "--listen", self._listen],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        ready = self._process.stdout.readline()
        assert ready, self._log.read_text()

    def send(self, number):
        self._process.send_signal(number)

    def kill(self):
        """Kills the daemon."""
        self.end(signal.SIGKILL)

    def end(self, number=signal.SIGTERM):
        if self._process is not None and self._process.poll() is None:
            # A stopped process does not react to other signals.
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(number)
        if self._process is not None:
            self._process.wait(20)
            self._process.stdout.close()
        self._process = None

    def client(self, **options):
        return TenterhookClient(home=self.home, **options)

    def run(self, *args, stdin="", check=True):
        """Runs the program in this home."""
        done = subprocess.run(
            [program(), *args],
            env=self.environment,
            cwd=self.project,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert not check or done.returncode == 0, done
        return done

    def leaves(self, *filters):
        """Records, oldest first."""
        found = json.loads(self.run("ledger", "query", *filters, "--limit", "10000", "--json").stdout)
        return [entry["leaf"] for entry in reversed(found["leaves"])]
