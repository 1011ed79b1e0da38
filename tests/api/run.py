# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sends generated requests to a real daemon: run.py PROGRAM VENV

Schemathesis reads the OpenAPI document from the daemon and checks every response against it. A response that breaks
the document, an undocumented status and a server error fail the run. The daemon runs in a throw-away directory; the
seed is fixed, and examples and time are bounded.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = "20261116"
START_TIMEOUT_SECONDS = 60
RUN_TIMEOUT_SECONDS = 900
# Streams are excluded, because they never end.
STREAMS = ["stream", "streamApprovals", "followSessions", "followSession", "tailLedger"]
POLICY = """\
version: 1
rules:
  - id: ask-make
    description: Ask before make
    match: {tool: Bash, command: "make *"}
    verdict: ask
"""
SETTINGS = """\
hooks:
  - id: look
    on: stop
    command: 'true'
"""


def environment(home: Path) -> dict[str, str]:
    """A clean environment with only the search path of the caller."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}


def start_daemon(program: str, home: Path) -> tuple[subprocess.Popen[str], str]:
    """Starts a daemon and waits until it listens."""
    state = home / "state"
    state.mkdir()
    (state / "policy.yaml").write_text(POLICY)
    (state / "tenterhook.yaml").write_text(SETTINGS)
    command = [program, "--home", str(state), "serve", "--listen", "127.0.0.1:0"]
    log = (home / "daemon.log").open("w")
    daemon = subprocess.Popen(command, env=environment(home), stdout=subprocess.PIPE, stderr=log, text=True)
    timer = threading.Timer(START_TIMEOUT_SECONDS, daemon.kill)
    timer.start()
    line = next((line for line in daemon.stdout if "http://" in line), None)
    timer.cancel()
    if line is None:
        sys.exit(f"the daemon did not start: {(home / 'daemon.log').read_text()}")
    threading.Thread(target=daemon.stdout.read, daemon=True).start()
    return daemon, "http://" + line.split("http://")[1].split()[0]


def post(url: str, token: str, path: str, body: dict) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        response.read()


def record_session(url: str, token: str, work: Path) -> None:
    """Records one session, and leaves one call waiting for an approval."""

    def call(event: str, **payload: object) -> None:
        common = {"session_id": "s-1", "cwd": str(work), "hook_event_name": event}
        post(url, token, f"/v1/hooks/claude-code/{event}", common | payload)

    call("SessionStart", source="startup", model="m")
    call("UserPromptSubmit", prompt="x")
    call("PreToolUse", tool_name="Bash", tool_input={"command": "cat a > b"}, tool_use_id="t-1")
    call("PreToolUse", tool_name="Bash", tool_input={"command": "sudo rm -rf /"}, tool_use_id="t-2")
    write = {"file_path": str(work / "c"), "content": "x\n"}
    call("PreToolUse", tool_name="Write", tool_input=write, tool_use_id="t-3")
    call("PostToolUse", tool_name="Write", tool_input=write, tool_response={"type": "create"}, tool_use_id="t-3")
    todos = {"todos": [{"content": "x", "status": "pending"}]}
    call("PreToolUse", tool_name="TodoWrite", tool_input=todos, tool_use_id="t-4")
    call("SubagentStart", agent_id="a-1", agent_type="helper")
    post(url, token, "/v1/ledger/verify", {})
    event = {"source": "test", "event": "pre-tool", "cwd": str(work)}
    event["tool"] = {"name": "Bash", "args": {"command": "make all"}}
    waits = threading.Thread(target=post, args=(url, token, "/v1/events?wait_ms=90000", event), daemon=True)
    waits.start()


def run_schemathesis(venv: Path, home: Path, url: str, token: str, config: str, mode: str) -> int:
    command = [str(venv / "bin/st"), "--no-color", "--config-file", str(HERE / config)]
    command += ["run", f"{url}/v1/openapi.json", "--url", url, "--header", f"Authorization: Bearer {token}"]
    command += ["--mode", mode, "--phases", "examples,coverage,fuzzing", "--max-examples", "20"]
    command += ["--seed", SEED, "--request-timeout", "30", "--continue-on-failure", "--suppress-health-check", "all"]
    for stream in STREAMS:
        command += ["--exclude-operation-id", stream]
    return subprocess.run(command, cwd=home, env=environment(home), timeout=RUN_TIMEOUT_SECONDS).returncode


def main(program: str, venv: str) -> int:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        work = home / "work"
        work.mkdir()
        daemon, url = start_daemon(os.path.abspath(program), home)
        try:
            token = (home / "state/run/token").read_text().strip()
            record_session(url, token, work)
            # The first run uses ids of existing records, the second uses generated ids.
            runs = [("known.toml", "positive"), ("any.toml", "all")]
            ended = [run_schemathesis(Path(venv).resolve(), home, url, token, config, mode) for config, mode in runs]
            alive = daemon.poll() is None
        finally:
            daemon.terminate()
            daemon.wait(timeout=30)
        if not alive:
            print((home / "daemon.log").read_text(), file=sys.stderr)
            print("the daemon ended during the run", file=sys.stderr)
        return max([*ended, 0 if alive else 1])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
