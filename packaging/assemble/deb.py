# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Debian packages, written without dpkg-deb."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from archives import Files, ar_bytes, read_file, tar_xz
from layout import MANUAL_PAGES, Build, prefix_files
from metadata import PACKAGE, Project

ARCHITECTURES = {
    "x86_64-unknown-linux-musl": "amd64",
    "x86_64-unknown-linux-gnu": "amd64",
    "aarch64-unknown-linux-musl": "arm64",
    "aarch64-unknown-linux-gnu": "arm64",
}
# Inactive until an administrator copies it: only systems that restrict user namespaces need it, and older ones cannot read it.
APPARMOR_PROFILE = ("packaging/apparmor/bwrap", "usr/share/apparmor/extra-profiles/tenterhook-bwrap")
ZSH_COMPLETION = ("share/zsh/site-functions/_tenterhook", "share/zsh/vendor-completions/_tenterhook")
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tenterhook
Source: {homepage}

Files: *
Copyright: the Tenterhook authors
License: Apache-2.0 or Expat
 The texts are beside this file: LICENSE-APACHE and LICENSE-MIT. The licences of the crates that are linked into the
 program are in THIRD-PARTY-LICENSES.txt.
"""


def package(project: Project, build: Build, manifest: Path, epoch: int) -> tuple[str, bytes]:
    """A package without dependencies and without maintainer scripts: the program is static."""
    files: Files = {"usr/" + name: entry for name, entry in prefix_files(build, "deb", manifest).items()}
    old, new = (f"usr/{path}" for path in ZSH_COMPLETION)
    files[new] = files.pop(old)
    for man in [name for name in files if name.startswith(f"usr/{MANUAL_PAGES}/")]:
        files[man + ".gz"] = (gzip.compress(files.pop(man)[0], 9, mtime=0), 0o644)
    source, target = APPARMOR_PROFILE
    files[target] = read_file(project.root / source)
    description = (
        f"{project.description}\n"
        " Tenterhook checks every action of AI coding agents (prompts, tool calls,\n"
        " permissions) against one policy, and blocks, rewrites, asks or logs.\n"
    )
    if build.caveat:
        description += f" .\n This build was {build.caveat}.\n"
    return package_of_files(project, PACKAGE, build.target, files, description, epoch)


def package_of_files(
    project: Project, name: str, target: str, files: Files, description: str, epoch: int, recommends: str = ""
) -> tuple[str, bytes]:
    """A package without dependencies and without maintainer scripts. Adds the copyright file."""
    architecture = ARCHITECTURES[target]
    files[f"usr/share/doc/{name}/copyright"] = (COPYRIGHT.format(homepage=project.homepage).encode(), 0o644)
    size = sum(len(contents) for contents, _ in files.values())
    # With `~`, a pre-release sorts before its release.
    version = project.version.replace("-", "~")
    control = (
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\n"
        f"Maintainer: Tenterhook maintainers <noreply@invalid>\nInstalled-Size: {-(-size // 1024)}\n"
        + (f"Recommends: {recommends}\n" if recommends else "")
        + f"Section: utils\nPriority: optional\nHomepage: {project.homepage}\nDescription: {description}"
    )
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, (data, _) in sorted(files.items()))  # noqa: S324
    control_files: Files = {"control": (control.encode(), 0o644), "md5sums": (sums.encode(), 0o644)}
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", tar_xz(control_files, epoch, "./")),
        ("data.tar.xz", tar_xz(files, epoch, "./")),
    ]
    return f"{name}_{version}_{architecture}.deb", ar_bytes(members, epoch)
