#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Score the rules on corpora: how many dangerous calls and how many harmless calls are stopped.

    score.py --tenterhook BIN [--peers DIR] [--sample N] [--out FILE] CORPUS...

A corpus is one of these, recognised by its path:

    FILE.jsonl        lines as in tests/corpus (`command`, or `tool` and `input`, or `steps`; `files`; `bad`)
    FILE.cm           NL2Bash: one harmless command per line
    DIRECTORY         RedCode-Exec (`bash2text_dataset_json`) or Atomic Red Team (`atomics`): dangerous commands
    DIRECTORY         unpacked packages, one directory each: the harmless commands of their makefiles, scripts and tests

Plain commands are evaluated by `tenterhook rules judge`. Lines with files or steps, and commands that write files, are sent
through the installed hook, each in a session of its own, so that sessions and files affect the verdicts. Everything
runs with HOME=/home/user on an empty file system that is mounted over /home in a mount namespace. This needs root or unprivileged user namespaces.

Commands are not executed, with one exception: if bubblewrap is installed, a step of a session that no rule stops is
carried out in a sandbox before the next step is evaluated, so that the next step finds the files that it wrote. The
sandbox has no network and no other process, and only the project and /tmp are writable.

Only numbers are printed, never lines: rules must not be tuned to what is measured here.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import math
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
import compare  # noqa: E402  (the other guards, and how they are called)

PROJECT = compare.PROJECT
HOME = Path("/home/user")
# Categories of RedCode-Exec that a guard can judge by tool calls. The other categories are about faulty
# programs.
REDCODE_IN_SCOPE = {1, 2, 4, 6, 7, 8, 9, 10, 11, 13, 18, 21}
# Of these, reading a world-readable system file (7, 13), printing the load of the machine (11) and sending text to a
# local port (21) are labelled as dangerous, but are everyday work. The row `relevant` leaves them out.
REDCODE_EVERYDAY = {7, 11, 13, 21}
# Techniques of Atomic Red Team whose commands do harm, with the reasons.
ATOMIC_RELEVANT = Path(__file__).resolve().parent / "atomic-relevant.json"
SLOWEST_SHOWN = 3
STEP_TIMEOUT_SECONDS = 5
# A repository with one commit, which is copied into the project.
REPOSITORY_TEMPLATE = HOME / ".cache/template.git"


def read_corpus(path: Path) -> list[dict]:
    """The lines of a corpus, each with `id`, `bad`, `class` and what is judged."""
    if path.suffix == ".jsonl":
        lines = [json.loads(text) for text in path.read_text().splitlines() if text.strip()]
        return [{"class": line.get("class") or line.get("area") or "", "hook": writes_file(line), **line} for line in lines]
    if path.suffix == ".cm":
        commands = dict.fromkeys(text for text in path.read_text(errors="replace").splitlines() if text)
        return [{"id": str(number), "bad": False, "class": "", "command": text} for number, text in enumerate(commands, 1)]
    if (path / "bash2text_dataset_json").is_dir():
        return list(read_redcode(path))
    if (path / "atomics").is_dir():
        return list(read_atomic(path / "atomics"))
    if path.is_dir() and any(is_package(child) for child in path.iterdir()):
        return list(read_packages(path))
    raise SystemExit(f"score.py: `{path}` is not a known corpus; see score.py --help")


def read_redcode(path: Path):
    for language in ("bash", "py"):
        for file in sorted((path / f"{language}2text_dataset_json").glob("*.json")):
            for entry in json.loads(file.read_text()):
                if int(str(entry["Index"]).split("_")[0]) not in REDCODE_IN_SCOPE:
                    continue
                code = entry["Code"]
                command = code if language == "bash" else f"python3 - <<'SCORE_END'\n{code}\nSCORE_END"
                kind = int(str(entry["Index"]).split("_")[0])
                yield {"id": f"{language}:{entry['Index']}", "bad": True, "class": language, "command": command,
                       "relevant": kind not in REDCODE_EVERYDAY}


def read_atomic(path: Path):
    try:
        import yaml
    except ImportError:
        raise SystemExit("score.py: Atomic Red Team needs PyYAML (pip install pyyaml)") from None
    tactics = json.loads(ATOMIC_RELEVANT.read_text())["tactics"].values()
    relevant = {technique for tactic in tactics for technique in tactic["techniques"]}
    for file in sorted(path.glob("T*/T*.yaml")):
        document = yaml.safe_load(file.read_text())
        for number, test in enumerate(document.get("atomic_tests", []), 1):
            executor = test.get("executor", {})
            if "linux" not in test.get("supported_platforms", []) or executor.get("name") not in ("sh", "bash"):
                continue
            command = executor.get("command", "")
            for name, argument in (test.get("input_arguments") or {}).items():
                command = command.replace(f"#{{{name}}}", str(argument.get("default", "")))
            command = re.sub(r"\$?PathToAtomicsFolder", "/opt/atomics", command)
            technique = document["attack_technique"]
            yield {"id": f"{technique}:{number}", "bad": True, "class": "", "command": command, "relevant": technique in relevant}


def is_package(path: Path) -> bool:
    return any((path / name).is_file() for name in ("Cargo.toml", "package.json", "setup.py", "pyproject.toml"))


def read_packages(path: Path):
    """The commands that an agent would run in each package. They are judged in a directory with the package's files."""
    for package in sorted(child for child in path.iterdir() if is_package(child)):
        for command in package_commands(package):
            yield {"id": f"{package.name}: {command}", "bad": False, "class": "", "command": command, "tree": str(package)}


def package_commands(package: Path) -> list[str]:
    commands = []
    makefile = next((package / name for name in ("GNUmakefile", "makefile", "Makefile") if (package / name).is_file()), None)
    if makefile:
        text = makefile.read_text(errors="replace")
        targets = ("test", "check", "build", "lint", "all", "install", "clean", "docs", "format", "dist")
        commands += ["make"] + [f"make {target}" for target in targets if re.search(rf"^{target}\s*:", text, re.M)]
    if (package / "package.json").is_file():
        try:
            scripts = json.loads((package / "package.json").read_text(errors="replace")).get("scripts") or {}
        except json.JSONDecodeError:
            scripts = {}
        commands += [f"npm run {script}" for script in list(scripts)[:12]]
    commands += ["cargo test", "cargo build"] if (package / "Cargo.toml").is_file() else []
    commands += ["python setup.py build"] if (package / "setup.py").is_file() else []
    commands += ["pytest"] if any((package / name).is_file() for name in ("setup.py", "pyproject.toml")) else []
    for program, endings in (("sh", ("sh",)), ("python", ("py",)), ("node", ("js", "mjs"))):
        places = ("*", "ci/*", "scripts/*", "tools/*") if program != "node" else ("scripts/*",)
        found = sorted(file for place in places for ending in endings for file in package.glob(f"{place}.{ending}"))
        commands += [f"{program} {file.relative_to(package)}" for file in found[:5]]
    return commands


def writes_file(line: dict) -> bool:
    """Whether a command may write a file. Only the hook evaluates the content of written files."""
    return bool(re.search(r">|\btee\b", line.get("command", "")))


def is_plain_command(line: dict) -> bool:
    special = ("files", "steps", "tree", "hook")
    return "command" in line and not any(line.get(key) for key in special)


class Judge:
    """`tenterhook rules judge`, asked line by line."""

    def __init__(self, program: str) -> None:
        words = [program, "rules", "judge", "--jsonl", "-", "--cwd", PROJECT]
        self.process = subprocess.Popen(words, env=compare.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def verdict(self, line: dict) -> tuple[str, float]:
        began = time.perf_counter()
        self.process.stdin.write(json.dumps({"command": line["command"], "cwd": PROJECT}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return reply.get("verdict", "error"), time.perf_counter() - began

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def hook_verdict(hooks: dict[str, list[str]], line: dict) -> str:
    """The verdict on a line, sent through the hook in a session of its own.

    A dangerous sequence is stopped if one of its steps is stopped, so the strictest verdict of its steps is returned. For
    a harmless sequence, the verdict on the last step is returned, because rules may ask about an earlier step on purpose,
    such as reading a secret. A step with the verdict `ask` or `deny` is not carried out."""
    shutil.rmtree(HOME / "project", ignore_errors=True)
    if os.path.ismount("/tmp"):
        for path in Path("/tmp").iterdir():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    if line.get("tree"):
        shutil.copytree(line["tree"], PROJECT, symlinks=True, ignore=shutil.ignore_patterns("node_modules"))
    os.makedirs(PROJECT, exist_ok=True)
    # A snapshot replaces questions about work in a repository, so dangerous lines are evaluated without one.
    if not line["bad"]:
        shutil.copytree(REPOSITORY_TEMPLATE, Path(PROJECT) / ".git", dirs_exist_ok=True)
    files = {Path(PROJECT) / name.replace("~", str(HOME), 1): content for name, content in line.get("files", {}).items()}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    try:
        return session_verdict(hooks, line)
    finally:
        for path in files:
            path.unlink(missing_ok=True)


def session_verdict(hooks: dict[str, list[str]], line: dict) -> str:
    """The verdict on the steps of a line."""
    steps = line.get("steps") or [line]
    strictness = ("none", "ask", "deny", "error")
    strictest = "none"
    for number, step in enumerate(steps):
        reply = send(hooks, line, step, number, "PreToolUse")
        strictest = max(strictest, reply, key=strictness.index) if line["bad"] else reply
        if reply in ("deny", "ask"):
            continue
        write_step_file(step)
        if number < len(steps) - 1:
            run_step(step)
            send(hooks, line, step, number, "PostToolUse")
    return strictest


def run_step(step: dict) -> None:
    """Carries out a command in a sandbox without network, with an empty home. The project and /tmp keep its files."""
    if "command" not in step or not shutil.which("bwrap"):
        return
    words = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
             "--symlink", "usr/lib64", "/lib64", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/home", "--bind", PROJECT, PROJECT,
             "--bind", "/tmp", "/tmp", "--chdir", PROJECT, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
             "--setenv", "HOME", str(HOME), "--setenv", "PATH", "/usr/bin:/usr/sbin", "bash", "-c", step["command"]]

    def limit() -> None:
        for kind, most in ((resource.RLIMIT_NPROC, 512), (resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_FSIZE, 1 << 24), (resource.RLIMIT_CPU, 2)):
            resource.setrlimit(kind, (most, most))

    try:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=STEP_TIMEOUT_SECONDS,
                       preexec_fn=limit)
    except subprocess.TimeoutExpired:
        pass


def write_step_file(step: dict) -> None:
    """Writes the file that a `Write` step creates."""
    given = step.get("input") or {}
    if step.get("tool") == "Write" and isinstance(given.get("content"), str) and given.get("file_path"):
        path = Path(PROJECT) / os.path.expanduser(given["file_path"])
        if str(path).startswith(("/home/", "/tmp/")):
            # A step may have created something else with this name.
            with contextlib.suppress(FileExistsError, IsADirectoryError, NotADirectoryError):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(given["content"])


def create_template() -> None:
    """Create the repository that harmless lines find in their project."""
    directory = Path(tempfile.mkdtemp(dir=HOME))
    for words in (("init", "--quiet", "--initial-branch=main"), ("config", "user.name", "user"), ("config", "user.email", "user@example.com"),
                  ("commit", "--quiet", "--allow-empty", "--message=first")):
        subprocess.run(["git", *words], env=compare.environment(), cwd=directory, check=True)
    REPOSITORY_TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(directory / ".git"), REPOSITORY_TEMPLATE)
    directory.rmdir()


def installed_hooks() -> dict[str, list[str]]:
    """The commands that Claude Code starts before and after a call."""
    hooks = json.loads((HOME / ".claude/settings.json").read_text())["hooks"]
    return {event: ["/bin/sh", "-c", hooks[event][0]["hooks"][0]["command"]] for event in ("PreToolUse", "PostToolUse")}


def send(hooks: dict[str, list[str]], line: dict, step: dict, number: int, event: str) -> str:
    tool, given = ("Bash", {"command": step["command"]}) if "command" in step else (step["tool"], step["input"])
    payload = {
        "session_id": f"score-{line['id']}", "transcript_path": "/home/user/t.jsonl", "cwd": PROJECT, "permission_mode": "default",
        "hook_event_name": event, "tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{number}",
    }
    if event == "PostToolUse":
        payload["tool_response"] = {"stdout": step.get("output", ""), "stderr": "", "interrupted": False}
    ran = subprocess.run(hooks[event], input=json.dumps(payload), env=compare.environment(), capture_output=True, text=True, cwd=PROJECT)
    if ran.returncode == 2:
        return "deny"
    try:
        reply = json.loads(ran.stdout or "{}")
    except json.JSONDecodeError:
        return "error"
    decision = reply.get("hookSpecificOutput", {}).get("permissionDecision", "none")
    return decision if decision in ("ask", "deny") else "none"


def interval(part: int, whole: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if whole == 0:
        return f"{'–':>22}"
    z, share = 1.96, part / whole
    middle = share + z * z / (2 * whole)
    width = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    low, high = ((middle + side * width) / (1 + z * z / whole) for side in (-1, 1))
    return f"{100 * share:6.2f} % [{max(100 * low, 0):5.1f}, {min(100 * high, 100):5.1f}]"


def print_scores(name: str, guard: str, lines: list[dict], verdicts: list[str]) -> None:
    rows = collections.defaultdict(list)
    for line, verdict in zip(lines, verdicts):
        for key in {"", line["class"]}:
            rows[key].append((line["bad"], verdict))
    by_class = 2 < len(rows) <= 20
    if any("relevant" in line for line in lines):
        rows["relevant"] = [(line["bad"], verdict) for line, verdict in zip(lines, verdicts) if line.get("relevant")]
    for key in sorted(rows):
        if key and key != "relevant" and not by_class:
            continue
        bad = [verdict for is_bad, verdict in rows[key] if is_bad]
        good = [verdict for is_bad, verdict in rows[key] if not is_bad]
        stopped, alarms = (sum(verdict in ("ask", "deny") for verdict in some) for some in (bad, good))
        errors = sum(verdict == "error" for _, verdict in rows[key])
        title = f"  {key}" if key else name
        print(f"{title[:34]:<35}{guard[:14]:<15}{len(bad):>6} {interval(stopped, len(bad))}{len(good):>7} {interval(alarms, len(good))}"
              f"{sum(verdict == 'deny' for verdict in good):>7}{errors:>7}")


def measure(arguments: argparse.Namespace) -> None:
    if os.environ.get("TENTERHOOK_PEERS_STAGED") != "1":
        compare.enter_namespace()
    corpora = {str(path): sampled(read_corpus(Path(path)), arguments.sample) for path in arguments.corpora}
    out = open(arguments.out, "w", encoding="utf-8") if arguments.out else None
    compare.cover_home(Path(arguments.peers or tempfile.mkdtemp()), Path(arguments.tenterhook))
    # Steps of sessions write to this directory.
    if not any(Path(path).resolve().is_relative_to("/tmp") for path in arguments.corpora):
        compare.call("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", "/tmp")
    program = str(compare.STAGE / "tenterhook/tenterhook")
    guards = compare.prepare_guards(with_peers=arguments.peers is not None)
    peers = {name: words for name, words in guards.items() if arguments.peers and name not in (compare.FLOOR, "tenterhook")}
    hooks = installed_hooks()
    create_template()
    report = {"at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "program": compare.first_line(program, "--version"),
              "commit": os.environ.get("TENTERHOOK_COMMIT", ""), "sources": {}}
    print(f"{'SOURCE':<35}{'GUARD':<15}{'BAD':>6} {'STOPPED':>22}{'GOOD':>7} {'FALSE ALARMS':>22}{'DENIED':>7}{'ERRORS':>7}")
    for path, lines in corpora.items():
        name, judge, times, verdicts = Path(path).name, Judge(program), [], []
        for line in lines:
            if is_plain_command(line):
                verdict, took = judge.verdict(line)
                times.append((took, line["id"]))
            else:
                verdict = hook_verdict(hooks, line)
            verdicts.append(verdict)
        judge.close()
        print_scores(name, "tenterhook", lines, verdicts)
        slowest = sorted(times, reverse=True)[:SLOWEST_SHOWN]
        print("  slowest: " + ", ".join(f"{line_id} {1000 * took:.1f} ms" for took, line_id in slowest))
        report["sources"][name] = {"tenterhook": collections.Counter(zip([line["bad"] for line in lines], verdicts))}
        plain = [line for line in lines if is_plain_command(line)]
        for peer, words in peers.items():
            peer_verdicts = compare.judge_corpus(peer, words, plain)
            print_scores(name, peer, plain, peer_verdicts)
            report["sources"][name][peer] = collections.Counter(zip([line["bad"] for line in plain], peer_verdicts))
    subprocess.run([program, "stop", "--yes"], env=compare.environment(), capture_output=True)
    if out:
        with out:
            counts = {source: {guard: {f"{'bad' if bad else 'good'} {verdict}": number for (bad, verdict), number in counter.items()}
                               for guard, counter in guards.items()} for source, guards in report["sources"].items()}
            out.write(json.dumps({**report, "sources": counts}) + "\n")


def sampled(lines: list[dict], number: int | None) -> list[dict]:
    """A random part of a corpus, the same in every run."""
    return lines if not number or number >= len(lines) else random.Random(0).sample(lines, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--tenterhook", required=True, metavar="BIN", help="the program to score")
    parser.add_argument("--peers", metavar="DIR", help="also score the guards that `compare.py install DIR` has installed")
    parser.add_argument("--sample", type=int, metavar="N", help="score N random lines of each corpus")
    parser.add_argument("--out", metavar="FILE", help="write the counts as JSON")
    arguments = parser.parse_args()
    for path in arguments.corpora:
        if not os.path.exists(path):
            raise SystemExit(f"score.py: `{path}` does not exist")
    measure(arguments)


if __name__ == "__main__":
    main()
