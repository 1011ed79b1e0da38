# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the checks ask after the sandbox ended. Everything is read outside, from the files, processes and listeners."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import host
import syscall_numbers as sys_call
from listeners import Listeners
from registry import MARK

SESSION_KEYRING, USER_KEYRING = -3, -4


@dataclass
class Victim:
    """The process in the place of the daemon, and where its secret and its canary are in memory."""

    process: subprocess.Popen
    secret: int
    canary: int
    policy_fd: int
    secret_fd: int
    limits: str
    oom_score: str


def system_call(number: int, *arguments) -> int:
    result = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Observations:
    """The part of the stage that the checks use."""

    base: Path
    home: Path
    uid: int
    run_id: str
    secrets: dict[str, bytes]
    outside: dict[str, str]
    listeners: Listeners
    victim: Victim
    other_master: int
    terminal_input: bytes
    service_end: socket.socket

    def _fingerprint(self, path: Path) -> tuple:
        try:
            information = path.lstat()
            text = path.read_bytes() if stat.S_ISREG(information.st_mode) and information.st_size < 100_000 else b""
        except OSError as error:
            return ("absent", str(error.errno))
        if stat.S_ISLNK(information.st_mode):
            text = os.readlink(path).encode()
        return (information.st_mode, information.st_uid, text)

    def _drain(self, master: int) -> bytes:
        try:
            return os.read(master, 65536)
        except OSError:
            return b""

    def _read_out(self, name: str) -> bytes:
        try:
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._out)
        except OSError:
            return b""
        with open(number, "rb") as file:
            return file.read()

    def started(self) -> bool:
        return bool(self._read_out("started"))

    def reports(self) -> bytes:
        return self._read_out("report")

    def notes(self) -> str:
        return self._read_out("note").decode(errors="replace").strip()

    def difference(self, name: str) -> str:
        before, after = self._before.get(name), self._fingerprint(self.home / name)
        if before == after:
            return ""
        return f"`~/{name}` is missing" if after[0] == "absent" else f"`~/{name}` was changed"

    def read_outside(self, path: str) -> bytes:
        """A file below the home, as a program outside reads it."""
        return self.read_path(self.home / path)

    def read_path(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def outside_file(self, name: str) -> bytes:
        return self.read_path(Path(self.outside[name]))

    def extended_attribute(self, name: str) -> str:
        try:
            return "attribute set" if os.getxattr(self.home / name, "user.attack") else ""
        except OSError:
            return ""

    def _identity(self, path: str) -> tuple[int, int]:
        try:
            information = os.lstat(path)
            return information.st_ino, information.st_ctime_ns
        except OSError:
            return 0, 0

    def daemon_socket_difference(self) -> str:
        return "" if self._identity(self.sockets["daemon"]) == self._socket_identity else "the socket is another"

    def _victim_file(self, name: str) -> str:
        try:
            return Path(f"/proc/{self.victim.process.pid}/{name}").read_text()
        except OSError:
            return ""

    def victim_state(self) -> str:
        if self.victim.process.poll() is not None:
            return "X"
        return self._victim_file("stat").rpartition(")")[2].split()[0]

    def victim_memory(self, address: int, length: int) -> bytes | None:
        try:
            with open(f"/proc/{self.victim.process.pid}/mem", "rb", buffering=0) as memory:
                memory.seek(address)
                return memory.read(length)
        except OSError:
            return None

    def victim_limit_difference(self) -> str:
        return "" if self._victim_file("limits") in ("", self.victim.limits) else "the daemon's limits are others"

    def victim_oom_difference(self) -> str:
        return "" if self._victim_file("oom_score_adj") in ("", self.victim.oom_score) else "the daemon's score is another"

    def inherited_bytes(self) -> bytes:
        try:
            return self.service_end.recv(100, socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def other_terminal_output(self) -> str:
        return "the terminal shows the attacker's text" if MARK in self._drain(self.other_master) else ""

    def shared_memory_difference(self) -> str:
        return "" if self._shared.raw.startswith(self.secrets["sysv"]) else "the segment was changed"

    def session_key_difference(self) -> str:
        try:
            key = system_call(sys_call.KEYCTL, 10, SESSION_KEYRING, b"user", f"{self.run_id}-session".encode(), 0)
            text = ctypes.create_string_buffer(100)
            length = system_call(sys_call.KEYCTL, 11, key, text, 100)
        except OSError:
            return ""
        return "" if text.raw[:length] == self.secrets["key-session"] else "the key was changed"

    def heartbeat_continues(self) -> bool:
        time.sleep(0.4)
        first = len(self._read_out("heartbeat"))
        time.sleep(0.5)
        return len(self._read_out("heartbeat")) > first > 0

    def added_address(self) -> str:
        return "the host has the address" if "198.51.100.77" in Path("/proc/net/fib_trie").read_text() else ""

    def changed_setting(self) -> str:
        return "" if Path("/proc/sys/net/ipv4/ip_default_ttl").read_text().strip() == "64" else "the setting was changed"

    def run_git(self, directory: str) -> None:
        """Work in a repository as the user does after the run."""
        script = "git st; git status; echo change >> README.md; git add -A; git status; git commit -q --allow-empty -m later; git st"
        path = self.home / directory
        if path.is_dir():
            subprocess.run([*host.as_user(self.uid), "sh", "-c", script], cwd=path, env=self.environment(), timeout=20,
                           capture_output=True, stdin=subprocess.DEVNULL)

    def later_program_ran(self) -> bool:
        return (self.base / "outside/ran").exists()
