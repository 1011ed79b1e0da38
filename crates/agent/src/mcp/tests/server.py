# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A small MCP server for tests: `server.py MODE [FILE]`. It shares no code with the client."""

import json
import os
import subprocess
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else "good"
TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "fail", "title": "Fails"},
    {"name": "parts"},
    {"name": "die"},
    {"name": "sleep"},
    {"name": "env.all"},
]


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def note(line):
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as notes:
            notes.write(line + "\n")


def call(name, args):
    if name == "echo":
        return text(args.get("text", ""))
    if name == "fail":
        return text("it did not work", isError=True)
    if name == "parts":
        picture = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
        page = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
        link = {"type": "resource_link", "uri": "file:///b", "name": "b"}
        return {"content": [{"type": "text", "text": "one"}, picture, page, link]}
    if name == "die":
        sys.stderr.write("out of order\n")
        sys.exit(7)
    if name == "env.all":
        return {"content": [], "structuredContent": dict(os.environ)}
    return None


def answer(method, params):
    if method == "initialize":
        if mode == "dies":
            sys.stderr.write("no database\n")
            sys.exit(3)
        if mode == "refuses":
            raise ValueError("not today")
        version = "1999-01-01" if mode == "old" else params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    if method == "tools/list":
        if mode == "endless":
            return {"tools": [], "nextCursor": "more"}
        if mode == "listless":
            return {"things": []}
        at = int(params.get("cursor", "0"))
        page = {"tools": TOOLS[at : at + 2]}
        return {**page, "nextCursor": str(at + 2)} if at + 2 < len(TOOLS) else page
    if method == "tools/call":
        return call(params["name"], params["arguments"])
    raise ValueError(f"unknown method {method}")


if mode == "greets":
    print("Welcome to the server!", flush=True)
if mode == "noisy":
    sys.stderr.write("x" * 1_000_000 + " the end\n")
if mode == "parent":
    child = subprocess.Popen(["sleep", "600"])
    note(str(child.pid))
note(str(os.getpid()))
for line in sys.stdin:
    message = json.loads(line)
    if mode == "silent":
        continue
    if mode == "asks" and message.get("method") == "initialize":
        say({"id": 99, "method": "ping"})
        say({"id": "x", "method": "sampling/createMessage", "params": {}})
        say({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})
        for _ in range(2):
            note(sys.stdin.readline().strip())
    if "id" not in message:
        note(line.strip())
        continue
    try:
        result = answer(message["method"], message.get("params", {}))
        if result is not None:
            say({"id": message["id"], "result": result})
    except ValueError as error:
        say({"id": message["id"], "error": {"code": -32000, "message": str(error)}})
note("end of input")
if mode == "stays":
    time.sleep(600)
