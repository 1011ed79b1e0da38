# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The throw-away home with its guard files, the daemon in its place, services outside, and what the checks ask."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import host
import syscall_numbers as sys_call
from attacks_files import ABSENT, GUARDED, SECRETS
from attacks_later import FILES
from listeners import Listeners
from observations import SESSION_KEYRING, USER_KEYRING, Observations, Victim, system_call

HERE = Path(__file__).resolve().parent
POLICY_TEXT = "version: 1\nrules: []\n"
# Contents of the home. Directories are made as needed; `{secret}` is replaced by a token of this run.
FILE_TEXTS = {
    ".config/tenterhook/policy.yaml": POLICY_TEXT,
    ".local/state/tenterhook/decoy.state": '{"mode": "enforce"}\n',
    ".local/state/tenterhook/ledger/decoy.key": "signing key {secret}\n",
    ".local/bin/tenterhook-decoy": "#!/bin/sh\nexit 0\n",
    ".claude/settings.json": '{"hooks": {}}\n',
    ".codex/config.toml": 'model = "x"\n',
    ".gemini/settings.json": "{}\n",
    ".bashrc": "# interactive shell\n",
    ".profile": "# login shell\n",
    ".dotfiles/zshrc": "# zsh\n",
    ".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n",
    ".ssh/id_ed25519": "private key {secret}\n",
    ".ssh/authorized_keys": "# none\n",
    ".aws/credentials": "[default]\naws_secret_access_key = {secret}\n",
    "proj/README.md": "# project\n",
    "proj/main.py": "print('hello')\n",
    "other/README.md": "# other project\n",
}


class Stage(Observations):
    """One stage serves all attacks of all wrappers; `clean` makes its home again when an attack changed it."""

    def __init__(self, uid: int, python: str) -> None:
        self.uid, self.python = uid, python
        self.run_id = secrets.token_hex(4)
        parent = "/home" if os.getuid() == 0 else "/var/tmp"
        self.base = Path(tempfile.mkdtemp(prefix="attacks-", dir=parent))
        self.base.chmod(0o755)
        self.home, self.project = self.base / "dev", self.base / "dev/proj"
        self.secrets: dict[str, bytes] = {}
        names = [*SECRETS.values(), "daemon", "environment", "command-line", "tmp-file", "sysv", "posix-memory",
                 "key-session", "key-user", "typed", "disk"]
        for name in names:
            self.secrets[name] = secrets.token_hex(16).encode()
        self.listeners = Listeners()
        self.sockets: dict[str, str] = {}
        self.ports: dict[str, int] = {}
        self.outside: dict[str, str] = {}
        self.victim: Victim | None = None
        self.terminal_input = b""
        self._out = -1
        self._made: list[Path] = []
        if host.is_isolated():
            host.furnish()
        self._compile()
        self._make_outside()
        self._make_services()
        self._make_keys()
        self._make_terminals()

    # ---- set-up ----

    def _compile(self) -> None:
        (self.base / "bin").mkdir()
        for name in ("victim", "syscalls"):
            host.run("gcc", "-O1", "-w", "-o", str(self.base / "bin" / name), str(HERE / f"helpers/{name}.c"))
        for source in HERE.glob("*.py"):
            shutil.copy2(source, self.base / "bin")

    def _own(self, path: Path | str) -> None:
        if os.getuid() == 0:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def _make_outside(self) -> None:
        (self.base / "outside").mkdir()
        self._own(self.base / "outside")
        self.later_command = f"touch {self.base}/outside/ran"
        for name, path in (("tmp-file", f"/tmp/attacks-{self.run_id}.txt"), ("posix-memory", f"/dev/shm/attacks-{self.run_id}")):
            self.outside[name] = path
            self._made.append(Path(path))
        self.outside |= {
            "crontab": f"/var/spool/cron/crontabs/{self.uid}", "ld-preload": "/etc/ld.so.preload", "etc-hosts": "/etc/hosts",
            "profile-d": "/etc/profile.d/attack.sh", "sudoers": "/etc/sudoers.d/attack", "address": host.OUTSIDE_ADDRESS,
            "resolver": host.RESOLVER, "abstract": f"attacks-{self.run_id}",
        }
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        self._segment = libc.shmget(int(self.run_id, 16) & 0x7FFFFFFF, 256, 0o1666)
        self._shared = (ctypes.c_char * 256).from_address(libc.shmat(self._segment, None, 0))
        self.outside["sysv-key"] = int(self.run_id, 16) & 0x7FFFFFFF
        self._read_disk()

    def _read_disk(self) -> None:
        """Note the identity in the disk's first block. If even the superuser may not read it, no attack can."""
        device = os.stat(self.base).st_dev
        self.disk = [os.major(device), os.minor(device)]
        node = self.base / "bin/disk"
        try:
            os.mknod(node, 0o600 | stat.S_IFBLK, device)
            with open(node, "rb") as disk:
                disk.seek(1024)
                self.secrets["disk"] = disk.read(1024)[0x68:0x78]
        except OSError:
            pass
        node.unlink(missing_ok=True)

    def _make_services(self) -> None:
        runtime = f"/run/user/{self.uid}"
        home, tmp = str(self.home), f"/tmp/attacks-{self.run_id}"
        self.sockets = {
            "docker": "/run/docker.sock", "podman": f"{runtime}/podman/podman.sock", "containerd": "/run/containerd/containerd.sock",
            "session-bus": f"{runtime}/bus", "system-bus": "/run/dbus/system_bus_socket", "systemd-user": f"{runtime}/systemd/private",
            "tmux": f"/tmp/tmux-{self.uid}/default", "screen": "/run/screen/S-dev/1.host", "ssh-agent": f"{tmp}-ssh/agent.1",
            "ssh-control": f"{home}/.ssh/control", "gpg-agent-home": f"{home}/.gnupg/S.gpg-agent",
            "gpg-agent-run": f"{runtime}/gnupg/S.gpg-agent", "keyring": f"{runtime}/keyring/control", "x11": f"/tmp/.X11-unix/X{int(self.run_id, 16) % 50000 + 100}",
            "wayland": f"{runtime}/wayland-0", "pipewire": f"{runtime}/pipewire-0", "editor-run": f"{runtime}/vscode-ipc-1.sock",
            "editor-tmp": f"{tmp}-vscode-ipc.sock", "emacs": f"{home}/.emacs.d/server/server", "project-outside": f"{home}/other/dev.sock",
            "journal": "/run/systemd/journal/socket", "descriptor-service": f"{runtime}/descriptor-service",
            "daemon": f"{home}/.local/state/tenterhook/decoy.sock",
        }
        if os.path.lexists(self.sockets["tmux"]):
            self.sockets["tmux"] = f"/tmp/tmux-{self.uid}/attacks-{self.run_id}"
        for name, path in self.sockets.items():
            if not path.startswith(f"{home}/"):
                self._bind(name)
                if name not in self.listeners.unavailable:
                    self._made.append(Path(path))
        self.listeners.abstract("abstract", self.outside["abstract"])
        self.listeners.abstract("abstract-datagram", self.outside["abstract"] + "-datagram", datagram=True)
        self.ports = {"tcp": self.listeners.internet("tcp"), "udp": self.listeners.internet("udp", datagram=True),
                      "mptcp": self.listeners.internet("mptcp"), "udplite": self.listeners.internet("udplite", datagram=True, protocol=136)}
        if host.is_isolated():
            self.listeners.internet("metadata", host.METADATA, 80)
            self.listeners.internet("dns", host.RESOLVER, 53, datagram=True)
            self.listeners.raw()
            Path(runtime).chmod(0o700)

    def _bind(self, name: str) -> None:
        self.listeners.unix(name, self.sockets[name], self.uid, datagram=name == "journal")
        if name not in self.listeners.unavailable:
            self._own(self.sockets[name])

    def _make_keys(self) -> None:
        """Join a new session keyring, and put a key into it and into the user's keyring."""
        try:
            system_call(sys_call.KEYCTL, 1, None)
            self._add_session_key()
            code = (
                "import ctypes, sys\nlibc = ctypes.CDLL(None)\ntoken = sys.stdin.buffer.read()\n"
                f"libc.syscall({sys_call.KEYCTL}, 8, {USER_KEYRING}, {SESSION_KEYRING})\n"
                f"key = libc.syscall({sys_call.ADD_KEY}, b'user', b'{self.run_id}-user', token, len(token), {USER_KEYRING})\n"
                f"libc.syscall({sys_call.KEYCTL}, 5, key, 0x3f3f0000)\nlibc.syscall({sys_call.KEYCTL}, 15, key, 3600)\n"
                f"libc.syscall({sys_call.KEYCTL}, 9, {USER_KEYRING}, {SESSION_KEYRING})\n")
            command = [*host.as_user(self.uid), self.python, "-c", code]
            subprocess.run(command, input=self.secrets["key-user"], timeout=10, check=True)
        except OSError:
            pass

    def _add_session_key(self) -> None:
        token = self.secrets["key-session"]
        key = system_call(sys_call.ADD_KEY, b"user", f"{self.run_id}-session".encode(), token, len(token), SESSION_KEYRING)
        system_call(sys_call.KEYCTL, 5, key, 0x3F3F0000)

    def _make_terminals(self) -> None:
        self.master, slave = os.openpty()
        self.terminal = os.ttyname(slave)
        self._slave = slave
        self.other_master, other = os.openpty()
        self._other = other
        subprocess.run(["stty", "raw", "-echo"], stdin=other, check=True, timeout=5)
        self.outside["other-terminal"] = os.ttyname(other)
        for number in (slave, other):
            if os.getuid() == 0:
                os.fchown(number, self.uid, -1)
        os.set_blocking(self.master, False)
        os.set_blocking(self.other_master, False)

    # ---- the home ----

    def build(self, prepare: list[str] | None) -> None:
        """Make the home again, start the daemon, and run the wrapper's preparation."""
        self.stop_victim()
        host.unmount_below(self.base)
        for entry in self.base.glob("dev*"):
            shutil.rmtree(entry, ignore_errors=True)
        template = self.base / "template"
        if not template.exists():
            self._fill_home()
            host.run("cp", "-a", str(self.home), str(template))
        else:
            host.run("cp", "-a", str(template), str(self.home))
        self.listeners.serve_descriptor(self.home / GUARDED["policy"])
        for name, path in self.sockets.items():
            if path.startswith(f"{self.home}/"):
                self._bind(name)
        if prepare:
            self.run_outside(prepare, check=True, timeout=60)
        self.start_victim()
        self._reset_outside()
        self._tree = self._watched()

    def _fill_home(self) -> None:
        """Write the files of the home and make its repositories."""
        for name, text in FILE_TEXTS.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{secret}", self.secrets.get(name, b"").decode()))
        (self.home / ".zshrc").symlink_to(".dotfiles/zshrc")
        (self.home / ".local/bin/tenterhook-decoy").chmod(0o755)
        for name, mode in ((".ssh", 0o700), (".ssh/id_ed25519", 0o600), (".aws/credentials", 0o600)):
            (self.home / name).chmod(mode)
        shutil.copytree(self.base / "bin", self.project / ".attack/bin")
        if os.getuid() == 0:
            host.run("chown", "-R", f"{self.uid}:{self.uid}", str(self.home))
        script = "set -e; for d in . vendor/lib ../other; do mkdir -p $d; (cd $d; git init -q; git add .; " \
            "printf '#!/bin/sh\\n:\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; " \
            "git commit -q --allow-empty -m start); done"
        (self.project / ".gitignore").write_text(".attack\nvendor\n")
        self.run_outside(["sh", "-c", script], check=True)
        if os.getuid() == 0:
            host.run("chown", "-R", f"{self.uid}:{self.uid}", str(self.home))

    def run_outside(self, command: list[str], check: bool = False, timeout: float = 20) -> subprocess.CompletedProcess:
        return subprocess.run([*host.as_user(self.uid), *command], cwd=self.project, env=self.environment(), check=check,
                              capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def environment(self) -> dict[str, str]:
        """The environment of a login session."""
        runtime = f"/run/user/{self.uid}"
        passed = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN") if name in os.environ}
        return passed | {
            "HOME": str(self.home), "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TERM": "xterm",
            "XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
            "SSH_AUTH_SOCK": self.sockets["ssh-agent"], "PROJECT": str(self.project),
        }

    def start_victim(self) -> None:
        command = [str(self.base / "bin/victim"), str(self.home / GUARDED["policy"]), str(self.home / ".local/state/tenterhook"),
                   self.secrets["command-line"].decode()]
        process = subprocess.Popen([*host.as_user(self.uid), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={"TOKEN": self.secrets["environment"].decode()}, start_new_session=True)
        process.stdin.write(self.secrets["daemon"] + b"\n")
        process.stdin.close()
        numbers = [int(word) for word in process.stdout.readline().split()]
        if len(numbers) != 4:
            raise RuntimeError(f"the daemon did not start: exit code {process.wait(5)}")
        self.victim = Victim(process, *numbers, limits="", oom_score="")
        self.victim.limits, self.victim.oom_score = self._victim_file("limits"), self._victim_file("oom_score_adj")

    def stop_victim(self) -> None:
        if self.victim:
            self.victim.process.kill()
            self.victim.process.wait(5)
            self.victim = None

    def _reset_outside(self) -> None:
        for name in ("tmp-file", "posix-memory"):
            Path(self.outside[name]).write_bytes(self.secrets[name])
            self._own(self.outside[name])
        self._shared.raw = self.secrets["sysv"].ljust(256, b"\0")
        for name in ("ran",):
            (self.base / "outside" / name).unlink(missing_ok=True)
        if host.is_isolated():
            for name in ("crontab", "ld-preload", "profile-d", "sudoers"):
                Path(self.outside[name]).unlink(missing_ok=True)
            Path("/etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
            subprocess.run(["ip", "address", "del", "198.51.100.77/32", "dev", "lo"], capture_output=True, timeout=5)
            Path("/proc/sys/net/ipv4/ip_default_ttl").write_text("64")
        if self.session_key_difference():
            self._add_session_key()

    def _watched(self) -> dict[str, tuple]:
        """State of the files that attacks change. Caches and state that a wrapper writes are not watched."""
        paths = {*GUARDED.values(), *SECRETS.values(), *ABSENT.values(), *(path.lstrip("+") for _, path, _ in FILES),
                 ".zshrc", ".dotfiles/zshrc", ".claude-work", ".bash_profile"}
        found = {path: self._fingerprint(self.home / path) for path in paths}
        for root in (self.project, self.home / "other"):
            for directory, names, files in os.walk(root):
                if directory == str(root) and ".attack" in names:
                    names.remove(".attack")
                for name in names + files:
                    if name not in ("index", "index.lock"):
                        path = Path(directory, name)
                        found[str(path)] = self._fingerprint(path)
        for path in self.base.glob("dev*"):
            found[str(path)] = ()
        for directory in (self.home, self.home / ".config", self.home / ".local", self.home / ".local/state"):
            for path in directory.glob("*-old"):
                found[str(path)] = ()
        return found

    def clean(self, prepare: list[str] | None) -> None:
        """Make the home again if anything was changed since it was built."""
        host.kill_matching(f"{self.base}/dev/proj/.attack")
        whole = self.victim and self.victim_state() in "SR" and not self.victim_limit_difference() \
            and not self.victim_oom_difference() and (self.victim_memory(self.victim.canary, 6) or b"canary") == b"canary"
        if not whole or self._watched() != self._tree:
            self.build(prepare)
        else:
            self._reset_outside()
        self._prepare_attack()

    def _prepare_attack(self) -> None:
        self._before = self._watched()
        self._socket_identity = self._identity(self.sockets["daemon"])
        out = self.project / f".attack/out-{secrets.token_hex(3)}"
        out.mkdir()
        self._own(out)
        if self._out >= 0:
            os.close(self._out)
        self.out, self._out = out, os.open(out, os.O_RDONLY)
        self.listeners.clear()
        self.terminal_input = b""
        self._drain(self.other_master)
        fcntl.ioctl(self._other, termios.TCFLSH, termios.TCIFLUSH)
        os.write(self.other_master, self.secrets["typed"] + b"\n")
        config = {
            "home": str(self.home), "project": str(self.project), "out": str(out), "sockets": self.sockets, "ports": self.ports,
            "outside": self.outside, "run_id": self.run_id, "isolated": host.is_isolated(), "disk": self.disk,
            "later_command": self.later_command,
            "daemon": {"pid": self.victim.process.pid, "secret": self.victim.secret, "canary": self.victim.canary,
                       "policy_fd": self.victim.policy_fd, "secret_fd": self.victim.secret_fd},
        }
        (self.project / ".attack/config.json").write_text(json.dumps(config))

    def close(self) -> None:
        """End what this stage started and remove what it made."""
        self.stop_victim()
        host.kill_matching(f"{self.base}/dev/proj/.attack")
        host.unmount_below(self.base)
        for path in self._made:
            path.unlink(missing_ok=True)
            for parent in list(path.parents)[:2]:
                if str(parent) not in ("/tmp", "/run", "/dev/shm", "/dev"):
                    try:
                        parent.rmdir()
                    except OSError:
                        break
        ctypes.CDLL(None).shmctl(self._segment, 0, None)
        shutil.rmtree(self.base, ignore_errors=True)

    # ---- launching ----

    def launch(self, wrapper: list[str], command: list[str], options: frozenset[str], timeout: float) -> int | None:
        """Run a command in a wrapper on the user's terminal. Returns its exit code, or None after the time limit."""
        pid_file, input_file, log = (self.base / "bin" / name for name in ("pid", "input", "log"))
        for path in (pid_file, input_file, log):
            path.unlink(missing_ok=True)
        passed, kept = [], []
        if "inherit" in options:
            service, given = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            self.service_end = service
            kept = [os.open(self.home / GUARDED["policy"], os.O_RDWR), os.open(self.home, os.O_RDONLY)]
            passed = [*kept, given.fileno()]
        self._drain(self.master)
        process = subprocess.Popen(
            [self.python, str(HERE / "launcher.py"), self.terminal, str(pid_file), str(input_file), str(log),
             *host.as_user(self.uid), *wrapper, *command],
            cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL, pass_fds=passed)
        try:
            self._interfere(options, pid_file)
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            for pid in [*reversed(host.descendants(process.pid)), process.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            process.wait(5)
            return None
        finally:
            self.terminal_input = self.read_path(input_file)
            fcntl.ioctl(self._slave, termios.TCFLSH, termios.TCIOFLUSH)
            for number in kept:
                os.close(number)
            if passed:
                given.close()

    def log_text(self) -> str:
        return self.read_path(self.base / "bin/log").decode(errors="replace")

    def _interfere(self, options: frozenset[str], pid_file: Path) -> None:
        """Send the signals or the keys that an attack or a piece of work asks for, once it is ready."""
        number = next((value for name, value in (("kill-wrapper", signal.SIGKILL), ("terminate-wrapper", signal.SIGTERM),
                                                 ("interrupt-key", 0)) if name in options), None)
        if number is None:
            return
        until = time.monotonic() + 6
        while time.monotonic() < until and b"ready" not in self.reports():
            time.sleep(0.02)
        if number == 0:
            os.write(self.master, b"\x03")
        else:
            os.kill(int(pid_file.read_text()), number)
