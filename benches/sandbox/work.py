# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ordinary work that must succeed in a sandbox. Each function runs inside; it fails by an exception or an exit code."""

from __future__ import annotations

import fcntl
import http.server
import mmap
import multiprocessing
import os
import pty
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Work:
    """One piece of work. It succeeds if the exit code of the wrapper is the expected one."""

    name: str
    summary: str
    run: Callable[[Any], int | None]
    exit_code: int = 0
    timeout_seconds: float = 60.0
    launch: frozenset[str] = field(default_factory=frozenset)
    # A file below the project that has to exist outside afterwards.
    leaves: str = ""


WORK: dict[str, Work] = {}


def work(summary: str, **options: Any):
    def register(function):
        name = function.__name__.strip("_").replace("_", "-")
        options["launch"] = frozenset(options.get("launch", ()))
        WORK[name] = Work(name, summary, function, **options)
        return function
    return register


def shell(t, script: str, directory: Path | None = None) -> str:
    done = subprocess.run(["sh", "-ec", script], cwd=directory or t.project, capture_output=True, text=True, timeout=50)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


@work("write, rename, link and delete files in the project", leaves="kept.txt")
def project_files(t):
    shell(t, "mkdir -p a/b; echo x > a/b/f; mv a/b/f a/g; ln -s a/g l; ln a/g h; chmod +x a/g; rm l h; rm -r a; echo x > kept.txt")


@work("git add, commit, branch, stash and merge", leaves=".git/refs/heads/topic")
def git_commit(t):
    shell(t, "echo x > new.txt; git add new.txt; git commit -qm new; git checkout -qb topic; echo y > new.txt; git stash -q; "
             "git stash pop -q; git commit -qam topic; git checkout -q -; git merge -q topic")


@work("git push with an upstream to a bare repository in the project")
def git_push(t):
    shell(t, "git init -q --bare remote.git; git remote add local remote.git; git push -q -u local HEAD; git fetch -q local; "
             "git config branch.$(git branch --show-current).remote")


@work("git init and clone in the project")
def git_clone(t):
    shell(t, "git clone -q . copy; git init -q fresh; cd fresh; git commit -q --allow-empty -m x")


@work("make a Python virtual environment and run it", leaves="venv/bin/python")
def python_venv(t):
    shell(t, f"{sys.executable} -m venv --without-pip venv; venv/bin/python -c 'print(1)'")


@work("run an npm script")
def npm_script(t):
    (t.project / "package.json").write_text('{"name": "p", "version": "1.0.0", "scripts": {"t": "node -e \\"console.log(42)\\""}}')
    if "42" not in shell(t, "npm run --silent t"):
        raise RuntimeError("no output")


@work("build a crate with cargo, offline", leaves="crate/target/debug/tiny", timeout_seconds=90)
def cargo_build(t):
    (t.project / "crate/src").mkdir(parents=True)
    (t.project / "crate/Cargo.toml").write_text('[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    (t.project / "crate/src/main.rs").write_text('fn main() { println!("42"); }\n')
    shell(t, "cargo build --offline -q && ./target/debug/tiny", t.project / "crate")


@work("run the tests of a crate with cargo, offline", timeout_seconds=90)
def cargo_test(t):
    (t.project / "crate/src").mkdir(parents=True)
    (t.project / "crate/Cargo.toml").write_text('[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    (t.project / "crate/src/lib.rs").write_text('#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n')
    if "1 passed" not in shell(t, "cargo test --offline", t.project / "crate"):
        raise RuntimeError("no test ran")


@work("install from a lock file with `npm ci`, and run the tests", leaves="node/node_modules/dep/index.js", timeout_seconds=90)
def npm_ci(t):
    package = t.project / "node"
    (package / "dep").mkdir(parents=True)
    (package / "dep/package.json").write_text('{"name": "dep", "version": "1.0.0"}')
    (package / "dep/index.js").write_text("module.exports = 42;\n")
    (package / "package.json").write_text('{"name": "p", "version": "1.0.0", "dependencies": {"dep": "file:./dep"}, '
                                          '"scripts": {"test": "node -e \\"console.log(require(\'dep\'))\\""}}')
    options = "--offline --no-audit --no-fund --silent"
    if "42" not in shell(t, f"npm install --package-lock-only {options}; npm ci {options}; npm test --silent", package):
        raise RuntimeError("no output")


@work("run pytest in a virtual environment (needs the package python3-pytest)")
def pytest(t):
    (t.project / "test_one.py").write_text("def test_one(tmp_path):\n    (tmp_path / 'x').write_text('x')\n")
    shell(t, f"{sys.executable} -m venv --without-pip --system-site-packages venv; venv/bin/python -m pytest -q test_one.py")


@work("compile and run a C program")
def compile_c(t):
    (t.project / "x.c").write_text("int main(void) { return 0; }\n")
    shell(t, "gcc -o x x.c; ./x")


@work("temporary files in `/tmp`")
def temporary_files(t):
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        file.write(b"x")
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "f").write_text("x")


@work("a server on loopback and a client, both inside")
def dev_server(t):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(f"http://127.0.0.1:{server.server_port}/README.md", timeout=5).read()


@work("a server on `localhost`, by name")
def localhost_name(t):
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(("localhost", server.getsockname()[1]), 5)


@work("a Unix socket in the project between own processes")
def unix_socket(t):
    os.chdir(t.project)
    server = socket.socket(socket.AF_UNIX)
    server.bind("own.sock")
    server.listen()
    socket.socket(socket.AF_UNIX).connect("own.sock")


@work("`ps` shows the own process")
def ps(t):
    if str(os.getpid()) not in shell(t, "ps -eo pid"):
        raise RuntimeError("the own process is not visible")


@work("pipes, named pipes and many children")
def pipes(t):
    if shell(t, "mkfifo p; (echo 42 > p &) ; cat p; seq 1000 | sort -n | tail -1").split() != ["42", "1000"]:
        raise RuntimeError("wrong output")
    children = [subprocess.Popen(["true"]) for _ in range(40)]
    if any(child.wait(20) for child in children):
        raise RuntimeError("a child failed")


@work("a pseudo terminal")
def pseudo_terminal(t):
    if os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", "test -t 0 && test -t 1"], lambda fd: os.read(fd, 1024), lambda fd: b"")):
        raise RuntimeError("not a terminal")


@work("standard input is the user's terminal")
def own_terminal(t):
    if not os.isatty(0) or os.get_terminal_size(0) is None:
        raise RuntimeError("standard input is not a terminal")


@work("`/dev/null`, `/dev/zero`, `/dev/urandom`, `/dev/full` and `/dev/fd`")
def devices(t):
    shell(t, "echo x > /dev/null; head -c 9 /dev/zero > z; head -c 9 /dev/urandom > u; test -e /dev/full; echo 1 | cat /dev/fd/0")


@work("POSIX shared memory and semaphores")
def shared_memory(t):
    multiprocessing.get_context("fork").Lock().acquire()
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        file.truncate(4096)
        mmap.mmap(file.fileno(), 4096)[0] = 1


@work("SQLite in the project, with a write-ahead log")
def sqlite(t):
    base = sqlite3.connect(t.project / "data.db")
    base.execute("pragma journal_mode=wal")
    base.execute("create table t (x)")
    base.commit()


@work("file locks")
def file_locks(t):
    with open(t.project / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_UN)


@work("a debugger's calls: ptrace of an own child (strace)")
def trace_child(t):
    shell(t, "strace -o trace true; test -s trace")


@work("signals between own processes, and a process group of jobs")
def job_signals(t):
    shell(t, "sleep 30 & kill $!; wait $! || test $? = 143; setsid true; timeout -s INT 5 true")


@work("write to `~/.cache`, where tools keep downloads")
def home_cache(t):
    (t.home / ".cache/tool").mkdir(parents=True)
    (t.home / ".cache/tool/f").write_text("x")


@work("write a client's session file, `~/.claude/projects/…`")
def client_state(t):
    (t.home / ".claude/projects/p").mkdir(parents=True)
    (t.home / ".claude/projects/p/s.jsonl").write_text("{}")


@work("start a nested bubblewrap, as clients with an own sandbox do")
def nested_bubblewrap(t):
    shell(t, "bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --proc /proc true")


@work("the working directory is the project")
def working_directory(t):
    if Path.cwd() != t.project:
        raise RuntimeError(f"it is `{Path.cwd()}`")


@work("exit code 42 passes through", exit_code=42)
def exit_code(t):
    return 42


@work("death by SIGTERM passes through as 143", exit_code=143)
def death_by_signal(t):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)


def finish(t, code: int) -> None:
    t.report(b"got the signal")
    os._exit(code)


@work("SIGTERM for the wrapper reaches the command", exit_code=-1, launch={"terminate-wrapper"}, timeout_seconds=8)
def terminate(t):
    signal.signal(signal.SIGTERM, lambda *_: finish(t, 7))
    t.report(b"ready ")
    time.sleep(5)


@work("the interrupt key reaches the command as SIGINT", exit_code=-1, launch={"interrupt-key"}, timeout_seconds=8)
def interrupt_key(t):
    signal.signal(signal.SIGINT, lambda *_: finish(t, 7))
    t.report(b"ready ")
    time.sleep(5)
