# SPDX-License-Identifier: Apache-2.0 OR MIT
"""First use in three command lines: install Tenterhook and guard a real Claude Code, see a denial, remove everything."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

from bare_root import PATH, SETTINGS, BareRoot, TestFailure

TIME_LIMIT_SECONDS = 120
LINE_TIMEOUT_SECONDS = 90
# Escape sequences, which a terminal does not show.
CONTROL = re.compile(r"\r|\x1b\[[0-9;?]*[A-Za-z]")
PROMPT = "user@bare:~$ "
# Privileged actions ask for a word: "Type `uninstall` to continue: ".
QUESTION = re.compile(r"[Tt]ype `(\w+)`[^\n]*$")
DENIED_COMMAND = "rm -rf ~/"
SCRIPT = {
    "turns": [
        {"tool_calls": [{"name": "Bash", "input": {"command": DENIED_COMMAND, "description": "free disk space"}}]},
        {"text": "I was not allowed to delete the home directory, so I stopped."},
    ]
}
LINES = [
    'sh /release/install.sh --from /release && PATH="$HOME/.local/bin:$PATH" && tenterhook install claude-code --yes',
    "claude -p 'free some disk space' --permission-mode bypassPermissions; tenterhook ledger query --verdict deny",
    "tenterhook uninstall --all --yes && sh /release/install.sh --uninstall && rm -rf ~/.local/state/tenterhook ~/.config/tenterhook",
]


def first_use(root: BareRoot, client: Path, model_server: Path, transcript: Path) -> None:
    """Types the three lines into a shell of the root, and writes the screen to `transcript`."""
    shutil.copy2(client.resolve(), root.host_path("/usr/local/bin/claude"))
    root.run("mkdir .claude && cat > .claude/settings.json && echo precious > keep.txt", stdin=SETTINGS)
    before = root.files()
    script = root.directory.parent / "first-use-script.json"
    script.write_text(json.dumps(SCRIPT))
    server = subprocess.Popen([model_server, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip() if server.stdout else ""
        # Settings of a user who has Claude Code. They contain nothing about Tenterhook.
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        terminal = Terminal(root, environment)
        began = time.monotonic()
        outputs = [terminal.run_line(line) for line in LINES]
        seconds = time.monotonic() - began
        terminal.close()
    finally:
        server.communicate(timeout=10)
    version = re.search(r"installed tenterhook (\S+)", outputs[0])
    head = (
        "A bare Debian root (debootstrap, no Rust) with the packages in /release and Claude Code in /usr/local/bin.\n"
        "Claude Code is the real client; its model is a scripted server on 127.0.0.1.\n"
        f"Three lines took {seconds:.1f} s.\n\n"
    )
    transcript.write_text(head + terminal.seen)
    if version is None or "denied" not in outputs[1] and "deny" not in outputs[1]:
        raise TestFailure(f"no installation or no denial, see {transcript}:\n{terminal.seen}")
    if root.host_path("/home/user/keep.txt").read_text() != "precious\n":
        raise TestFailure("the denied command ran")
    if root.host_path("/home/user/.claude/settings.json").read_text() != SETTINGS:
        raise TestFailure("Claude Code's settings are not what they were")
    # Claude Code leaves its own files behind.
    left = {path for path in root.files() - before if not path.startswith(("home/user/.claude", "home/user/.cache/claude"))}
    if left:
        raise TestFailure(f"left behind: {sorted(left)}")
    if seconds > TIME_LIMIT_SECONDS:
        raise TestFailure(f"three lines took {seconds:.0f} s, more than {TIME_LIMIT_SECONDS} s")


class Terminal:
    """A shell of the root on a separate terminal, as a user has it."""

    def __init__(self, root: BareRoot, environment: dict[str, str]) -> None:
        self.seen = ""
        command = ["chroot", "--userspec=1000:1000", str(root.directory), "/bin/bash", "--noprofile", "--norc", "-i"]
        variables = {"PATH": PATH, "HOME": "/home/user", "TERM": "dumb", "NO_COLOR": "1", "HISTFILE": "", "PS1": PROMPT, **environment}
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(root.host_path("/home/user"))
            os.execvpe(command[0], command, variables)
        self._read_until(PROMPT)
        self._type(f"stty cols 100 -echo; cd; PS1='{PROMPT}'")
        self._read_until(PROMPT)
        self.seen = ""

    def run_line(self, line: str) -> str:
        """Types a line and returns its output. A prompt for confirmation is answered."""
        self.seen += f"{PROMPT}{line}\n"
        self._type(line)
        output = ""
        while True:
            part = self._read_until(PROMPT, QUESTION)
            output += part
            if output.endswith(PROMPT):
                output = output.removesuffix(PROMPT)
                self.seen += part.removesuffix(PROMPT)
                return output
            word = QUESTION.findall(part)[-1]
            self.seen += f"{part}{word}\n"
            self._type(word)

    def _type(self, line: str) -> None:
        os.write(self.screen, f"{line}\n".encode())

    def _read_until(self, prompt: str, question: re.Pattern[str] | None = None) -> str:
        text = ""
        until = time.monotonic() + LINE_TIMEOUT_SECONDS
        while time.monotonic() < until:
            ready, _, _ = select.select([self.screen], [], [], 1)
            if ready:
                text += CONTROL.sub("", os.read(self.screen, 65536).decode(errors="replace"))
            if text.endswith(prompt) or (not ready and question and question.search(text)):
                return text
        raise TestFailure(f"the terminal stands still after:\n{self.seen}{text}")

    def close(self) -> None:
        """Ends the shell."""
        self._type("exit")
        os.waitpid(self.process, 0)
        os.close(self.screen)
