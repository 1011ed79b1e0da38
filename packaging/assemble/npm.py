# SPDX-License-Identifier: Apache-2.0 OR MIT
"""npm packages: one per platform with the program, and `tenterhook`, the SDK with a launcher that finds it."""

from __future__ import annotations

import json
from pathlib import Path

from archives import Files, tar_gz, untar
from layout import Build, prefix_files
from metadata import PACKAGE, Project

# Rust target -> Node's name for the platform. sdk/typescript/bin/tenterhook.js looks for the same names.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "x86_64-unknown-linux-gnu": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
}


def platform_package(project: Project, build: Build, manifest: Path, epoch: int) -> tuple[str, bytes]:
    """The package with the program of one platform. Nothing is downloaded or run when it is installed."""
    system, architecture = PLATFORMS[build.target]
    name = f"@{PACKAGE}/{system}-{architecture}"
    description = {
        "name": name,
        "version": project.version,
        "description": f"The tenterhook program for {system} {architecture}. Install `{PACKAGE}` instead.",
        "license": project.workspace["license"],
        "repository": {"type": "git", "url": f"git+{project.homepage}.git"},
        "os": [system],
        "cpu": [architecture],
        "preferUnplugged": True,
        "files": ["bin", "share"],
    }
    files: Files = prefix_files(build, "npm", manifest)
    files["package.json"] = ((json.dumps(description, indent=2) + "\n").encode(), 0o644)
    readme = f"# {name}\n\nThe `tenterhook` program for {system} {architecture}. Install `{PACKAGE}`, which depends on it.\n"
    if build.caveat:
        readme += f"\nThis build was {build.caveat}.\n"
    files["README.md"] = (readme.encode(), 0o644)
    return f"{PACKAGE}-{system}-{architecture}-{project.version}.tgz", tar_gz(files, epoch, "package/")


def main_package(project: Project, packed: Path, builds: list[Build], epoch: int) -> tuple[str, bytes]:
    """The output of `npm pack` in sdk/typescript, with one optional dependency per built platform."""
    files = {name.removeprefix("package/"): entry for name, entry in untar(packed.read_bytes()).items()}
    description = json.loads(files["package.json"][0])
    if description["version"] != project.version:
        raise SystemExit(f"sdk/typescript has version {description['version']}, not {project.version}")
    platforms = sorted(f"@{PACKAGE}/{'-'.join(PLATFORMS[build.target])}" for build in builds)
    description["optionalDependencies"] = {name: project.version for name in platforms}
    # Scripts and development tools are only needed in a checkout.
    for key in ("scripts", "devDependencies"):
        description.pop(key, None)
    files["package.json"] = ((json.dumps(description, indent=2) + "\n").encode(), 0o644)
    return f"{PACKAGE}-{project.version}.tgz", tar_gz(files, epoch, "package/")
