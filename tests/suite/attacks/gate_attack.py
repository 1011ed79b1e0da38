# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A guarded agent that attacks the gate. Prints one line of JSON for each attempt.

usage: gate_attack.py <state directory> <program> <payload file> <attack>
"""

import fcntl
import json
import os
import pty
import select
import socket
import subprocess
import sys
import termios
import time

STATE, PROGRAM, PAYLOAD, ATTACK = sys.argv[1:5]
SOCKET = os.path.join(STATE, "run", "tenterhook.sock")
MONITOR = ("PUT", "/v1/mode", {"mode": "monitor", "proof": {"tty": True}})
REQUESTS = [
    MONITOR,
    ("POST", "/v1/authority", {"action": "stop", "proof": {"tty": True}}),
    ("POST", "/v1/ledger/erase", {"from": 0, "reason": "x", "proof": {"tty": True}}),
    ("POST", "/v1/dashboard/link", {}),
]


def connect():
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(60)
    stream.connect(SOCKET)
    return stream


def send(stream, method, path, body):
    """Sends a request on a connection. Returns status and body."""
    text = json.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: tenterhook\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    stream.sendall((head + text).encode())
    answer = b""
    while part := stream.recv(65536):
        answer += part
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


def tell(how, status, body=""):
    print(json.dumps({"how": how, "status": status, "body": body}), flush=True)


def become_agent():
    """Calls a hook as a harness does. From here on this process is a guarded agent."""
    with open(PAYLOAD, "rb") as payload:
        subprocess.run([PROGRAM, "hook", "claude-code", "pre-tool-use"], stdin=payload, check=True, stdout=2)


def connection_of_a_child(when):
    """Returns a connection whose creator has exited."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        stream = connect()
        if when == "accepted":
            time.sleep(0.5)
        socket.send_fds(theirs, [b"x"], [stream.fileno()])
        os._exit(0)
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    if when == "zombie":
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    else:
        os.waitpid(child, 0)
    stream = socket.socket(fileno=descriptors[0])
    stream.settimeout(60)
    return stream


def exited_maker():
    for method, path, body in REQUESTS:
        tell(f"own {path}", *send(connect(), method, path, body))
        for when in ["at once", "accepted", "zombie"]:
            tell(f"{when} {path}", *send(connection_of_a_child(when), method, path, body))


def on_a_terminal(what):
    """Runs a function in a child process that leads a session on a new terminal."""
    master, slave = pty.openpty()
    child = os.fork()
    if child == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        what()
        os._exit(0)
    os.waitpid(child, 0)
    os.close(master)
    os.close(slave)


def monitor_over_the_socket():
    tell("socket", *send(connect(), *MONITOR))


def command(words):
    """Runs a command on a new terminal, and types the text that it asks for."""
    child, master = pty.fork()
    if child == 0:
        os.execv(words[0], words)
    shown, answered = b"", False
    while True:
        ready, _, _ = select.select([master], [], [], 60)
        try:
            part = os.read(master, 4096) if ready else b""
        except OSError:
            part = b""
        if not part:
            break
        shown += part
        if b"to continue: " in shown and not answered:
            os.write(master, b"mode monitor\n")
            answered = True
    _, status = os.waitpid(child, 0)
    tell("command", os.waitstatus_to_exitcode(status), shown.decode(errors="replace"))


def monitor_by_command():
    command([PROGRAM, "mode", "monitor"])


def deep(levels, what):
    """Forks to the given depth. Every parent stays alive and waits."""
    if levels == 0:
        return what()
    child = os.fork()
    if child == 0:
        deep(levels - 1, what)
        os._exit(0)
    os.waitpid(child, 0)


def left_the_tree(what):
    """Forks twice and lets the parent exit, so that init adopts the grandchild."""
    done, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        parent = os.getpid()
        if os.fork() == 0:
            os.close(done)
            while os.getppid() == parent:
                time.sleep(0.01)
            what()
            os.close(write)
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    os.read(done, 1)


if ATTACK != "foreign-caller":
    become_agent()
if ATTACK == "exited-maker":
    exited_maker()
elif ATTACK == "deep":
    deep(70, lambda: on_a_terminal(monitor_over_the_socket))
    deep(70, monitor_by_command)
elif ATTACK == "deep-command":
    deep(70, monitor_by_command)
elif ATTACK == "namespace":
    command([sys.argv[5], "-Urpf", "--mount-proc", PROGRAM, "mode", "monitor"])
elif ATTACK == "namespace-without-proc":
    command([sys.argv[5], "-Urpf", PROGRAM, "mode", "monitor"])
elif ATTACK == "foreign-caller":
    on_a_terminal(monitor_over_the_socket)
elif ATTACK == "left-the-tree":
    left_the_tree(lambda: on_a_terminal(monitor_over_the_socket))
else:
    sys.exit(f"unknown attack {ATTACK}")
