# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A release with another version number and another signature, made from a real one: for tests of updates."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "assemble"))

import signing  # noqa: E402
from archives import tar_gz, untar  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[2]


def release_key() -> Path:
    """The key that `make dist` signed with."""
    target_dir = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return Path(os.environ.get("TENTERHOOK_SIGNING_KEY") or target_dir / "dist-key/throw-away.key")


def pretended_release(release: Path, out: Path, version: str, key_file: Path | None = None, *, other_program: bool = False) -> None:
    """Writes manifest, archive and checksums for a version. Creates the key file if it is missing. With
    `other_program`, the program has different bytes, as a real new version would have."""
    key_file = key_file or release_key()
    key = signing.load(key_file) if key_file.exists() else signing.generate(key_file)
    out.mkdir()
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["version"] = version
    archives = {}
    for target in manifest["targets"].values():
        files = untar((release / target["archive"]).read_bytes())
        prefix = target["archive"].removesuffix(".tar.gz")
        if other_program:
            program, mode = files[f"{prefix}/bin/tenterhook"]
            # Bytes after the last section are never read.
            program += version.encode()
            files[f"{prefix}/bin/tenterhook"] = (program, mode)
            target["programs"]["tenterhook"] = hashlib.sha256(program).hexdigest()
        archives[target["archive"]] = (prefix, files)
    path = out / "manifest.json"
    path.write_text(json.dumps(manifest))
    key.sign(path, f"tenterhook {version} manifest.json")
    for archive, (prefix, files) in archives.items():
        for name in ("manifest.json", "manifest.json.minisig"):
            files[f"{prefix}/share/tenterhook/{name}"] = ((out / name).read_bytes(), 0o644)
        (out / archive).write_bytes(tar_gz(files, 0))
    sums = "".join(f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in sorted(out.iterdir()))
    (out / "SHA256SUMS").write_text(sums)
    key.sign(out / "SHA256SUMS", f"tenterhook {version} SHA256SUMS")
