# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The machine around the stage. The superuser gets a machine of its own: new mount, network, process and IPC namespaces,
in which a metadata address, a resolver, `/run` and a copy of `/etc` are made. An attack that works there changes nothing
outside. Without privileges the stage is on the machine itself, and attacks that need these parts are not applicable."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

ISOLATED = "TENTERHOOK_ATTACKS_ISOLATED"
OUTSIDE_ADDRESS, RESOLVER, METADATA = "203.0.113.7", "203.0.113.53", "169.254.169.254"
# Process ids outside start here, so that they differ from those in a new process namespace.
FIRST_PROCESS_ID = 5000


def is_isolated() -> bool:
    return os.environ.get(ISOLATED) == "yes"


def enter() -> None:
    """Start this program again in its own namespaces, if that is allowed."""
    if is_isolated() or os.getuid() != 0:
        return
    os.environ[ISOLATED] = "yes"
    namespaces = ["--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
    os.execvp("unshare", ["unshare", *namespaces, sys.executable, *sys.argv])


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=30)


def furnish() -> None:
    """Make the parts of the isolated machine. Runs once, in the new namespaces."""
    run("ip", "link", "set", "lo", "up")
    for address in (OUTSIDE_ADDRESS, RESOLVER, METADATA):
        run("ip", "address", "add", f"{address}/32", "dev", "lo")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run")
    # A copy of `/etc` on a file system of its own.
    run("mount", "-t", "tmpfs", "-o", "mode=755", "etc", "/mnt")
    run("cp", "-a", "/etc/.", "/mnt/")
    run("mount", "--move", "/mnt", "/etc")
    Path("/etc/resolv.conf").unlink(missing_ok=True)
    Path("/etc/resolv.conf").write_text(f"nameserver {RESOLVER}\noptions timeout:1 attempts:1\n")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "spool", "/var/spool")
    Path("/var/spool/cron/crontabs").mkdir(parents=True)
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(FIRST_PROCESS_ID))


def unmount_below(base: Path) -> None:
    """Undo mounts that an attack left below the stage."""
    for _ in range(8):
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        targets = [re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), line.split()[4]) for line in lines]
        below = [target for target in targets if target.startswith(f"{base}/")]
        if not below:
            return
        for target in reversed(below):
            ctypes.CDLL(None).umount2(target.encode(), 2)


def as_user(uid: int) -> list[str]:
    """The prefix that starts a command as another user."""
    if uid == os.getuid():
        return []
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--"]


def kill_matching(text: str) -> None:
    """End the processes that this run started: their command line has the stage's own path."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            if text.encode() in Path(f"/proc/{entry}/cmdline").read_bytes():
                os.kill(int(entry), 9)
        except OSError:
            continue


def descendants(pid: int) -> list[int]:
    """The process ids below a process, children before grandchildren."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, next_pids = [], [pid]
    while next_pids:
        next_pids = [child for parent in next_pids for child in children.get(parent, [])]
        found += next_pids
    return found
