# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Metadata of packages, and of dependencies from cargo."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

PACKAGE = "tenterhook"
# npm packages whose code is part of the dashboard, and therefore part of the program.
BUNDLED_IN_DASHBOARD = ("clsx", "esm-env", "svelte", "uplot")
# Last part of the Rust target -> note about the C library that is linked in.
C_LIBRARY_NOTES = {
    "musl": "The C library is musl, copyright 2005-2020 Rich Felker and others, MIT licence (its text is below).",
    "gnu": "The C library is the GNU C library, LGPL-2.1-or-later; the program can be linked again from its source.",
    "darwin": "The C library is part of the system.",
}
# Fonts of the dashboard: part of their licence file's name -> name of the font.
FONTS_IN_DASHBOARD = {"inter": "Inter", "jetbrains-mono": "JetBrains Mono"}
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


@dataclass(frozen=True)
class Project:
    """The repository, as packages describe it."""

    root: Path

    @cached_property
    def workspace(self) -> dict[str, Any]:
        """`[workspace.package]` of Cargo.toml."""
        return tomllib.loads((self.root / "Cargo.toml").read_text())["workspace"]["package"]

    @property
    def version(self) -> str:
        """The version of every package."""
        return str(self.workspace["version"])

    @property
    def homepage(self) -> str:
        """The repository's address."""
        return str(self.workspace["repository"])

    @property
    def description(self) -> str:
        """Description in one line."""
        return str(self.workspace["description"])

    def dependencies(self, target: str, program: str = PACKAGE) -> list[dict[str, Any]]:
        """The packages that are linked into a program for a target, sorted by name and version."""
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
        found = json.loads(subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout)
        packages = {package["id"]: package for package in found["packages"]}
        nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
        todo = [identifier for identifier, package in packages.items() if package["name"] == program]
        reached: set[str] = set()
        while todo:
            identifier = todo.pop()
            if identifier in reached:
                continue
            reached.add(identifier)
            for dependency in nodes[identifier]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    todo.append(dependency["pkg"])
        return sorted((packages[identifier] for identifier in reached), key=lambda it: (it["name"], it["version"]))

    def checksums(self) -> dict[tuple[str, str], str]:
        """The SHA-256 of each crate file, from Cargo.lock."""
        lock = tomllib.loads((self.root / "Cargo.lock").read_text())
        return {(it["name"], it["version"]): it["checksum"] for it in lock["package"] if "checksum" in it}


def sbom(project: Project, targets: list[str], epoch: int) -> bytes:
    """A CycloneDX 1.5 bill of materials: the crates linked into the program for any of the targets."""
    checksums = project.checksums()
    components: dict[str, dict[str, Any]] = {}
    for target in targets:
        for package in project.dependencies(target):
            name, version = package["name"], package["version"]
            if package["source"] is None and name == PACKAGE:
                continue
            component = {
                "type": "library",
                "bom-ref": f"pkg:cargo/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:cargo/{name}@{version}",
                "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}],
            }
            if (name, version) in checksums:
                component["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
            components[component["purl"]] = component
    ordered = [components[key] for key in sorted(components)]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, project.version + "".join(components))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": PACKAGE,
                "name": PACKAGE,
                "version": project.version,
                "purl": f"pkg:cargo/{PACKAGE}@{project.version}",
                "licenses": [{"expression": str(project.workspace["license"])}],
            },
        },
        "components": ordered,
        "dependencies": [{"ref": PACKAGE, "dependsOn": [component["bom-ref"] for component in ordered]}],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def dashboard_package(project: Project, name: str) -> tuple[str, Path]:
    """Label and folder of an npm package that is part of the dashboard."""
    folder = project.root / "web/node_modules" / name
    if not folder.is_dir():
        raise SystemExit(f"assemble: web/node_modules/{name} is missing, and its licence with it (run `make web`)")
    description = json.loads((folder / "package.json").read_text())
    return f"{name} {description['version']} ({description['license']}), in the dashboard", folder


def third_party_licences(project: Project, target: str, program: str = PACKAGE) -> bytes:
    """The licence texts of all linked packages. A text that several packages share is printed once."""
    folders = [
        (f"{package['name']} {package['version']} ({package['license']})", Path(package["manifest_path"]).parent)
        for package in project.dependencies(target, program)
        if package["source"] is not None
    ]
    if (project.root / "web/dist/index.html").is_file():
        folders += [dashboard_package(project, name) for name in BUNDLED_IN_DASHBOARD]
    texts: dict[str, list[str]] = {}
    if (project.root / "web/dist/index.html").is_file():
        for file, font in FONTS_IN_DASHBOARD.items():
            text = (project.root / f"web/src/fonts/OFL-{file}.txt").read_text().strip()
            texts.setdefault(text, []).append(f"{font} (OFL-1.1), in the dashboard")
    without = []
    for label, folder in folders:
        files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
        for path in files:
            texts.setdefault(path.read_text(errors="replace").strip(), []).append(label)
        if not files:
            without.append(label)
    parts = [f"Licences of what is linked into {program} {project.version} for {target}.\n"]
    parts.append("The Rust standard library is licensed under Apache-2.0 or MIT. " + C_LIBRARY_NOTES[target.rsplit("-", 1)[-1]] + "\n")
    if without:
        parts.append("Packages that ship no licence text:\n  " + "\n  ".join(without) + "\n")
    for text, labels in sorted(texts.items(), key=lambda item: item[1]):
        parts.append("=" * 80 + "\n" + "\n".join(dict.fromkeys(labels)) + "\n\n" + text + "\n")
    return "\n".join(parts).encode()
