# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A temporary root file system with the files of a release, and commands run in it as root or as a user."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import time
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DENIED_CALL = {
    "session_id": "s",
    "transcript_path": "/home/user/t.jsonl",
    "cwd": "/home/user",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~/"},
    "tool_use_id": "t",
}
HOOK_TIMEOUT_SECONDS = 30
SETTINGS = '{\n  "model": "opus"\n}\n'


class TestFailure(Exception):
    """A package does not do what it should."""


class BareRoot:
    """A copy of the minimal Debian root file system that root.sh creates, or a directory that contains only busybox."""

    def __init__(self, directory: Path, base: Path, release: Path, *, busybox_only: bool = False) -> None:
        self.directory = directory
        remove_root(directory)
        if busybox_only:
            for name in ("bin", "proc", "dev", "tmp", "etc", "home/user"):
                (directory / name).mkdir(parents=True)
            shutil.copy2(base / "bin/busybox", directory / "bin/busybox")
            (directory / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n")
            (directory / "etc/hosts").write_text("127.0.0.1 localhost\n")
            self.mount()
            self.run("/bin/busybox --install -s /bin", user="root", shell="/bin/busybox sh")
        else:
            subprocess.run(["cp", "-a", "--reflink=auto", base, directory], check=True)
            self.mount()
        (directory / "tmp").chmod(0o1777)
        subprocess.run(["cp", "-a", release, directory / "release"], check=True)
        subprocess.run(["chown", "-R", "1000:1000", directory / "home/user"], check=True)
        for tool in ("rustc", "cargo", "cc", "gcc"):
            if self.run(f"command -v {tool}", check=False).returncode == 0:
                raise TestFailure(f"the bare root has {tool}")

    def mount(self) -> None:
        """Mounts /proc and a separate /dev/pts, and creates device nodes. No directory of this machine is mounted into
        the root, so deleting the root deletes only its own files.""" 
        device = self.directory / "dev"
        (device / "pts").mkdir(parents=True, exist_ok=True)
        for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
            if not (device / name).exists():
                os.mknod(device / name, stat.S_IFCHR, os.makedev(1, minor))
            (device / name).chmod(0o666)
        if not (device / "tty").exists():
            os.mknod(device / "tty", stat.S_IFCHR, os.makedev(5, 0))
        (device / "tty").chmod(0o666)
        (device / "ptmx").unlink(missing_ok=True)
        (device / "ptmx").symlink_to("pts/ptmx")
        subprocess.run(["mount", "-t", "proc", "proc", self.directory / "proc"], check=True)
        options = "newinstance,ptmxmode=0666,mode=0620"
        subprocess.run(["mount", "-t", "devpts", "-o", options, "devpts", device / "pts"], check=True)

    def run(
        self, script: str, *, user: str = "user", path: str = PATH, check: bool = True, shell: str = "/bin/sh", stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs a script with an empty environment."""
        home = "/home/user" if user == "user" else "/root"
        account = ["--userspec=1000:1000"] if user == "user" else []
        command = ["chroot", *account, str(self.directory), *shell.split(), "-c", f"cd {home} 2>/dev/null; {script}"]
        environment = {"PATH": path, "HOME": home, "TERM": "dumb"}
        ran = subprocess.run(
            command, env=environment, input=stdin, text=True, capture_output=True, check=False, start_new_session=True
        )
        if check and ran.returncode != 0:
            raise TestFailure(f"`{script}` failed with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return ran

    def expect_failure(self, script: str, *parts: str, **how: str) -> None:
        """Runs a command that must fail with this message."""
        ran = self.run(script, check=False, **how)
        said = ran.stdout + ran.stderr
        if ran.returncode == 0 or any(part not in said for part in parts):
            raise TestFailure(f"`{script}` should fail and say {parts}; it ended with {ran.returncode}:\n{said}")

    def files(self) -> set[str]:
        """Returns every file in the directories that an installation may write to, without /proc, /dev and /tmp."""
        found = set()
        for top in ("usr", "opt", "home", "etc", "var", "root"):
            for folder, _, names in os.walk(self.directory / top):
                found |= {str(Path(folder, name).relative_to(self.directory)) for name in names}
        return found

    def host_path(self, path: str) -> Path:
        """Returns the path on this machine of a path in the root."""
        return self.directory / path.lstrip("/")


def exercise(root: BareRoot, program: str, version: str, method: str) -> None:
    """Uses an installed program as a new user does: shows its version, verifies it, guards Claude Code, checks a
    denial, and uninstalls."""
    quoted = shlex.quote(program)
    said = root.run(f"{quoted} --version").stdout
    if said != f"tenterhook {version}\n":
        raise TestFailure(f"--version printed {said!r}")
    explained = json.loads(root.run(f"{quoted} explain --json --command 'rm -rf ~/'").stdout)
    if explained["outcome"]["decision"] != "deny":
        raise TestFailure(f"explain: {explained['outcome']}")
    info = json.loads(root.run(f"{quoted} self info --json").stdout)
    if info["method"] != method:
        raise TestFailure(f"installed by {info['method']}, expected {method}")

    settings = root.host_path("/home/user/.claude/settings.json")
    root.run("mkdir -p .claude && cat > .claude/settings.json", stdin=SETTINGS)
    root.run(f"{quoted} install claude-code --yes")
    verified = json.loads(root.run(f"{quoted} self verify --json").stdout)
    names = [Path(it["path"]).name for it in verified["programs"]]
    if not verified["matches"] or names != ["tenterhook", "tenterhook", "tenterhook-hook", "tenterhook-status"]:
        raise TestFailure(f"self verify: {verified}")
    reply = json.loads(run_hook(root, installed_hook(root)))
    if reply["hookSpecificOutput"]["permissionDecision"] != "deny":
        raise TestFailure(f"the hook replied {reply}")
    # Privileged actions are confirmed on a terminal.
    typed = "sleep 1; printf 'uninstall\\n'; sleep 2"
    if root.run("command -v script", check=False).returncode == 0:
        root.run(f"({typed}) | script -qec \"{program} uninstall --all --yes\" /dev/null")
        if settings.read_text() != SETTINGS:
            raise TestFailure(f"settings after uninstall:\n{settings.read_text()}")
    root.run("rm -rf .claude .local/state/tenterhook .config/tenterhook")


def installed_hook(root: BareRoot) -> str:
    """The command that Claude Code runs before a tool call."""
    settings = json.loads(root.host_path("/home/user/.claude/settings.json").read_text())
    return settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]


def run_hook(root: BareRoot, command: str) -> str:
    """Runs a hook in a separate process tree, because the parents of a hook are treated as a guarded agent."""
    script = f"sleep 0.5; {command} < call.json > reply.json; echo $? > exit.txt"
    root.run("cat > call.json", stdin=json.dumps(DENIED_CALL))
    # The shell in between ends at once, so that the hook is not a descendant of this test.
    root.run(f"(setsid sh -c {shlex.quote(script)} </dev/null >/dev/null 2>&1 &)")
    until = time.monotonic() + HOOK_TIMEOUT_SECONDS
    while not root.host_path("/home/user/exit.txt").exists():
        if time.monotonic() > until:
            raise TestFailure("the hook did not end")
        time.sleep(0.1)
    return root.run("cat reply.json; rm -f call.json reply.json exit.txt").stdout


def remove_root(directory: Path) -> None:
    """Deletes a root file system. File systems below it are unmounted first; if one stays mounted, nothing is deleted."""
    if not directory.exists():
        return
    for mounted in reversed(mounts_below(directory)):
        subprocess.run(["umount", mounted], check=True)
    if left := mounts_below(directory):
        raise SystemExit(f"not deleting {directory}: still mounted are {left}")
    subprocess.run(["rm", "-rf", "--one-file-system", directory], check=True)


def mounts_below(directory: Path) -> list[str]:
    """Mount points in a directory, in the order in which they were mounted."""
    prefix = f"{directory.resolve()}/"
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point.startswith(prefix)]
