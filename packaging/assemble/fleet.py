# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Packages of `tenterhook-fleet`, the program of fleets: archives and a Debian package for each target."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import deb
from archives import Files, read_file
from metadata import Project, third_party_licences

PACKAGE = "tenterhook-fleet"
DESCRIPTION = "One policy, one record and one view for every machine that Tenterhook guards"
EXPLANATION = (
    " This program joins a machine to a fleet, uploads its records and receives its\n"
    " policy. The same program is the fleet's server, which needs NATS and PostgreSQL.\n"
)
SYSTEMD_UNIT = "deploy/systemd/tenterhook-fleet.service"


@dataclass
class FleetBuild:
    """The program of fleets for one Rust target."""

    target: str
    program: bytes
    # Documentation and licences: path below the prefix -> file.
    extra: Files = field(default_factory=dict)


def find_build(project: Project, target: str, program: Path) -> FleetBuild:
    """Reads a program, and adds the licences of everything that is linked into it."""
    build = FleetBuild(target, program.read_bytes())
    docs = f"share/doc/{PACKAGE}"
    for name in ("CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"):
        build.extra[f"{docs}/{name}"] = read_file(project.root / name)
    build.extra[f"{docs}/THIRD-PARTY-LICENSES.txt"] = (third_party_licences(project, target, PACKAGE), 0o644)
    return build


def archive_files(build: FleetBuild) -> Files:
    """All files below the prefix."""
    return {f"bin/{PACKAGE}": (build.program, 0o755), **build.extra}


def debian_package(project: Project, build: FleetBuild, epoch: int) -> tuple[str, bytes]:
    """A Debian package with the program and a systemd unit for the server, which is not enabled."""
    files: Files = {"usr/" + name: entry for name, entry in archive_files(build).items()}
    files["usr/lib/systemd/system/tenterhook-fleet.service"] = read_file(project.root / SYSTEMD_UNIT)
    description = f"{DESCRIPTION}\n{EXPLANATION}"
    return deb.package_of_files(project, PACKAGE, build.target, files, description, epoch, recommends="tenterhook")


def program_line(build: FleetBuild) -> str:
    """One line of the report about a program."""
    digest = hashlib.sha256(build.program).hexdigest()
    return f"{PACKAGE} for {build.target}: {len(build.program) / 1e6:.1f} MB, SHA-256 {digest}"
