# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Python wheels: the SDK, and for each platform the SDK together with the program as the command `tenterhook`."""

from __future__ import annotations

import base64
import hashlib
import tomllib
from pathlib import Path

from archives import Files, read_file, zip_bytes
from layout import Build, prefix_files
from metadata import PACKAGE, Project

# The program is static, so it runs with every C library.
TAGS = {
    "x86_64-unknown-linux-musl": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    "x86_64-unknown-linux-gnu": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
    "aarch64-unknown-linux-musl": ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
    "aarch64-unknown-linux-gnu": ["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
    "x86_64-apple-darwin": ["macosx_10_12_x86_64"],
    "aarch64-apple-darwin": ["macosx_11_0_arm64"],
}


def pure_wheel(project: Project, epoch: int) -> tuple[str, bytes]:
    """The SDK without the program, for platforms that have no build."""
    return _wheel(project, ["any"], {}, epoch)


def platform_wheel(project: Project, build: Build, manifest: Path, epoch: int) -> tuple[str, bytes]:
    """The SDK and the program. pip puts `scripts` into bin/ and `data` below the prefix of the environment."""
    extra: Files = {}
    for path, (contents, mode) in prefix_files(build, "pip", manifest).items():
        section = "scripts/" + path.removeprefix("bin/") if path.startswith("bin/") else "data/" + path
        extra[f"{PACKAGE}-{project.version}.data/{section}"] = (contents, mode)
    return _wheel(project, TAGS[build.target], extra, epoch)


def _wheel(project: Project, platforms: list[str], extra: Files, epoch: int) -> tuple[str, bytes]:
    sdk = project.root / "sdk/python"
    description = tomllib.loads((sdk / "pyproject.toml").read_text())["project"]
    if description["version"] != project.version:
        raise SystemExit(f"sdk/python has version {description['version']}, not {project.version}")
    info = f"{PACKAGE}-{project.version}.dist-info"
    files = dict(extra)
    source = sdk / "src"
    for path in sorted((source / PACKAGE).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(source).as_posix()] = read_file(path)
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    pure = "true" if platforms == ["any"] else "false"
    wheel = f"Wheel-Version: 1.0\nGenerator: tenterhook-packaging\nRoot-Is-Purelib: {pure}\n{tags}"
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    files[f"{info}/METADATA"] = (_core_metadata(description, sdk).encode(), 0o644)
    for name in description["license-files"]:
        files[f"{info}/licenses/{name}"] = read_file(sdk / name)
    record = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, (data, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = (("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode(), 0o644)
    return f"{PACKAGE}-{project.version}-py3-none-{'.'.join(platforms)}.whl", zip_bytes(files, epoch)


def _core_metadata(description: dict, sdk: Path) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {description['name']}",
        f"Version: {description['version']}",
        f"Summary: {description['description']}",
        *(f"Project-URL: {name}, {url}" for name, url in description.get("urls", {}).items()),
        f"License-Expression: {description['license']}",
        *(f"License-File: {name}" for name in description["license-files"]),
        f"Keywords: {','.join(description['keywords'])}",
        *(f"Classifier: {name}" for name in description["classifiers"]),
        f"Requires-Python: {description['requires-python']}",
        *(f"Requires-Dist: {name}" for name in description["dependencies"]),
    ]
    for extra, names in description.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines.extend(f"Requires-Dist: {name}; extra == '{extra}'" for name in names)
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (sdk / description["readme"]).read_text()


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
