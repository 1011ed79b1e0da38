# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One built program and the files that belong to it. Every package has the same layout below its prefix."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from archives import Files, read_file
from metadata import PACKAGE, Project, third_party_licences

HOOK_PROGRAMS = ("tenterhook-hook", "tenterhook-status")
COMPLETIONS = {
    "bash": "share/bash-completion/completions/tenterhook",
    "zsh": "share/zsh/site-functions/_tenterhook",
    "fish": "share/fish/vendor_completions.d/tenterhook.fish",
}
MANUAL_PAGES = "share/man/man1"


@dataclass
class Build:
    """The program for one Rust target."""

    target: str
    program: bytes
    # Programs that `tenterhook install` writes to disk: name -> contents.
    hook_programs: dict[str, bytes]
    # What was tested, if the program cannot run on the machine that built it. Empty if it runs there.
    caveat: str = ""
    # Completions, manual pages and licences: path below the prefix -> file.
    extra: Files = field(default_factory=dict)

    @property
    def archive(self) -> str:
        """File name of the archive, without its suffix."""
        return f"{PACKAGE}-{{version}}-{self.target}"

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every program."""
        programs = {PACKAGE: self.program, **self.hook_programs}
        return {name: hashlib.sha256(contents).hexdigest() for name, contents in sorted(programs.items())}


def find_build(target: str, program: Path, caveat: str = "") -> Build:
    """Reads a program, and finds its hook programs in the build directory next to it."""
    contents = program.read_bytes()
    found: dict[str, bytes] = {}
    for name in HOOK_PROGRAMS:
        for candidate in sorted(program.parent.glob(f"build/tenterhook-*/out/{name}")):
            bytes_ = candidate.read_bytes()
            if bytes_ in contents:
                found[name] = bytes_
        if name not in found:
            raise SystemExit(f"{name} of {program} was not found: build it with packaging/build.sh")
    return Build(target, contents, found, caveat)


def add_extra_files(project: Project, build: Build, runnable: Path) -> None:
    """Adds documentation and completions. `runnable` is a build that runs here; its help is the same everywhere."""
    docs = f"share/doc/{PACKAGE}"
    for name in ("README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"):
        build.extra[f"{docs}/{name}"] = read_file(project.root / name)
    build.extra[f"{docs}/THIRD-PARTY-LICENSES.txt"] = (third_party_licences(project, build.target), 0o644)
    with tempfile.TemporaryDirectory() as home:
        for shell, path in COMPLETIONS.items():
            build.extra[path] = (_run(runnable, home, "self", "completions", shell), 0o644)
        pages = Path(home) / "man"
        _run(runnable, home, "self", "man", "--output", str(pages))
        for page in sorted(pages.iterdir()):
            build.extra[f"{MANUAL_PAGES}/{page.name}"] = (page.read_bytes(), 0o644)


def _run(program: Path, home: str, *arguments: str) -> bytes:
    environment = {"HOME": home, "PATH": os.environ["PATH"], "NO_COLOR": "1"}
    return subprocess.run([program, *arguments], env=environment, check=True, capture_output=True).stdout


def prefix_files(build: Build, method: str, manifest: Path) -> Files:
    """Returns all files below the prefix: program, signed manifest, receipt, documentation."""
    shared = f"share/{PACKAGE}"
    return {
        f"bin/{PACKAGE}": (build.program, 0o755),
        f"{shared}/manifest.json": read_file(manifest),
        f"{shared}/manifest.json.minisig": read_file(manifest.with_name(manifest.name + ".minisig")),
        f"{shared}/receipt.json": receipt(method),
        **build.extra,
    }


def receipt(method: str) -> tuple[bytes, int]:
    """Tells `tenterhook self` how this copy was installed."""
    return (json.dumps({"method": method}) + "\n").encode(), 0o644


def manifest_bytes(project: Project, builds: list[Build], commit: str, key_kind: str) -> bytes:
    """The manifest that `self verify` and `self update` read (crates/self-update/src/release.rs)."""
    document = {
        "format": 1,
        "version": project.version,
        "commit": commit,
        "key": key_kind,
        "targets": {
            build.target: {
                "archive": build.archive.format(version=project.version) + ".tar.gz",
                "programs": build.hashes(),
            }
            for build in builds
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
