# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An agent in a sandboxed run that attacks the gate. Prints one line of JSON for each attempt, after a line on stdin.

usage: sandbox_attack.py <state directory> <program> <payload file> <unshare or empty>
"""

import json
import os
import socket
import subprocess
import sys

STATE, PROGRAM, PAYLOAD, UNSHARE = sys.argv[1:5]
SOCKET = os.path.join(STATE, "run", "tenterhook.sock")
MONITOR = ("PUT", "/v1/mode", {"mode": "monitor", "proof": {"tty": True}})


def send(method, path, body):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(60)
    stream.connect(SOCKET)
    text = json.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: tenterhook\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    stream.sendall((head + text).encode())
    answer = b""
    while part := stream.recv(65536):
        answer += part
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


def tell(how, found):
    print(json.dumps({"how": how, "status": found[0], "body": found[1]}), flush=True)


def in_child(action, detach):
    """Runs an action in a child, or in an orphan in a session of its own. Returns its result."""
    read, write = os.pipe()
    if os.fork() == 0:
        if detach:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
            # The parent has exited when this process has another one.
            parent = os.getppid()
            while parent == os.getppid() and parent != 1:
                pass
        os.write(write, json.dumps(action()).encode())
        os._exit(0)
    os.close(write)
    os.wait()
    return json.loads(os.read(read, 1 << 20))


if sys.argv[5:] == ["again"]:
    tell("nested namespace", send(*MONITOR))
    sys.exit(0)

sys.stdin.readline()
tell("direct", send(*MONITOR))
tell("child", in_child(lambda: send(*MONITOR), False))
tell("orphan", in_child(lambda: send(*MONITOR), True))
if UNSHARE:
    subprocess.run([UNSHARE, "-Urpf", "--mount-proc", sys.executable, *sys.argv, "again"], check=True)
run = {"id": "01M7F5CPG7H5X6NNY2839GKMCH", "init_pid": os.getpid(), "level": "hooks", "command": "x"}
tell("registration", send("POST", "/v1/runs", run))
with open(PAYLOAD, "rb") as payload:
    called = subprocess.run([PROGRAM, "hook", "claude-code", "pre-tool-use"], stdin=payload, stdout=2, check=False)
tell("hook", (called.returncode, ""))
sys.stdin.readline()
tell("after a restart", send(*MONITOR))
sys.stdin.readline()
