# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The program that runs inside of the sandbox: one attack, one piece of ordinary work, or the heartbeat of a survivor.

    inside.py attack NAME CONFIG | work NAME CONFIG | heartbeat FILE
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
HEARTBEAT_SECONDS = 20


class Target:
    """What the attacker knows: paths, addresses and process ids, but none of the secrets."""

    def __init__(self, config: dict) -> None:
        self.home, self.project, self.out = (Path(config[name]) for name in ("home", "project", "out"))
        self.daemon, self.sockets, self.ports, self.outside = (
            config[name] for name in ("daemon", "sockets", "ports", "outside"))
        self.run_id, self.isolated, self.disk = config["run_id"], config["isolated"], config["disk"]
        self.later_command = config["later_command"]
        self.helper_path = self.project / ".attack/bin/syscalls"
        self.heartbeat_command = [str(Path(__file__).resolve()), "heartbeat", str(self.out / "heartbeat")]
        # Opened now: an attack may rename the directories above.
        self._out = os.open(self.out, os.O_RDONLY)

    def _append(self, name: str, text: bytes) -> None:
        number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644, dir_fd=self._out)
        os.write(number, text)
        os.close(number)

    def report(self, text: bytes) -> None:
        """Write down what was read outside."""
        self._append("report", text)

    def note(self, error: object) -> None:
        """Write down why an attempt failed."""
        self._append("note", f"{error}\n".encode())

    def require_isolation(self) -> None:
        """Stop an attack on addresses that belong to others if the stage has no network of its own."""
        if not self.isolated:
            raise OSError("the stage has no network of its own")

    def call(self, number: int, *arguments):
        """Make a system call. Byte arrays are written back; paths and bytes are passed as pointers."""
        libc, passed, kept = ctypes.CDLL(None, use_errno=True), [], []
        for argument in arguments:
            if isinstance(argument, Path):
                argument = bytes(argument)
            if isinstance(argument, bytearray):
                argument = (ctypes.c_char * len(argument)).from_buffer(argument)
            elif isinstance(argument, int):
                argument = ctypes.c_long(argument)
            kept.append(argument)
            passed.append(argument)
        result = libc.syscall(ctypes.c_long(number), *passed)
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    def call_quietly(self, number: int, *arguments) -> None:
        try:
            self.call(number, *arguments)
        except OSError as error:
            self.note(error)

    def libc(self, name: str, *arguments) -> int:
        """Call a function of the C library that returns -1 on failure."""
        result = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
        return result

    def libc_quietly(self, name: str, *arguments) -> None:
        try:
            self.libc(name, *arguments)
        except OSError as error:
            self.note(error)

    def new_namespaces(self, user=False, mount=False, pid=False, network=False) -> None:
        """Enter new namespaces, as the superuser of a new user namespace."""
        uid, gid = os.getuid(), os.getgid()
        self.libc("unshare", user * CLONE_NEWUSER | mount * CLONE_NEWNS | pid * CLONE_NEWPID | network * CLONE_NEWNET)
        if user:
            for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
                try:
                    Path(f"/proc/self/{name}").write_text(text)
                except OSError as error:
                    self.note(error)

    def new_namespaces_quietly(self, **kinds: bool) -> None:
        try:
            self.new_namespaces(**kinds)
        except OSError as error:
            self.note(error)

    def helper(self, *arguments) -> bytes:
        """Run the compiled helper and return its output."""
        done = subprocess.run([self.helper_path, *map(str, arguments)], capture_output=True, timeout=8)
        if done.returncode:
            self.note(done.stderr.decode(errors="replace").strip() or f"helper: {done.returncode}")
        return done.stdout

    def wait(self, pid: int) -> None:
        self.note(f"exit status {os.waitpid(pid, 0)[1]}")

    def visible_pids(self) -> list[int]:
        own = {os.getpid(), os.getppid()}
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]

    def is_daemon(self, pid: int) -> bool:
        try:
            return b"victim" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    def daemon_pids(self) -> list[int]:
        """The daemon's process id outside, and processes of its name that are visible here."""
        found = [pid for pid in self.visible_pids() if self.is_daemon(pid)]
        return found + [pid for pid in [self.daemon["pid"]] if pid not in found]

    def each_daemon(self, action) -> None:
        for pid in self.daemon_pids():
            if pid in (os.getpid(), os.getppid()):
                continue
            try:
                action(pid)
            except OSError as error:
                self.note(error)

    def inherited(self) -> list[int]:
        """Open descriptors that this program did not open."""
        return [int(name) for name in os.listdir("/proc/self/fd")
                if int(name) > 2 and int(name) != self._out and os.path.exists(f"/proc/self/fd/{name}")]

    def attach_shared_memory(self, key: int):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        segment = libc.shmget(key, 0, 0)
        address = libc.shmat(segment, None, 0) if segment >= 0 else None
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "shmat")
        return (ctypes.c_char * 256).from_address(address)


def beat(path: str) -> None:
    until = time.monotonic() + HEARTBEAT_SECONDS
    with open(path, "ab", buffering=0) as file:
        while time.monotonic() < until:
            file.write(b".")
            time.sleep(0.05)


def main() -> int:
    kind, name = sys.argv[1:3]
    if kind == "heartbeat":
        beat(name)
        return 0
    target = Target(json.loads(Path(sys.argv[3]).read_text()))
    target._append("started", b"yes")
    if kind == "work":
        import work
        return work.WORK[name].run(target) or 0
    import attacks_table
    try:
        attacks_table.ATTACKS[name].run(target)
    except Exception as error:  # The reason of a failure is part of the result.
        target.note(f"{type(error).__name__}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
