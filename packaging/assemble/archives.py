# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Archives with the same bytes for the same contents: fixed order, owner, modes and times."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import time
import zipfile
from pathlib import Path

# Path inside the archive -> (contents, file mode).
Files = dict[str, tuple[bytes, int]]


def read_file(path: Path, mode: int = 0o644) -> tuple[bytes, int]:
    """One entry of an archive from a file on disk."""
    return path.read_bytes(), mode


def tar_bytes(files: Files, epoch: int, prefix: str = "") -> bytes:
    """An uncompressed tar file, with an entry for every directory."""
    buffer = io.BytesIO()
    directories = sorted({str(parent) for name in files for parent in Path(prefix + name).parents if str(parent) != "."})
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for directory in directories:
            tar.addfile(_tar_entry(directory + "/", 0o755, epoch, tarfile.DIRTYPE))
        for name in sorted(files):
            contents, mode = files[name]
            entry = _tar_entry(prefix + name, mode, epoch, tarfile.REGTYPE)
            entry.size = len(contents)
            tar.addfile(entry, io.BytesIO(contents))
    return buffer.getvalue()


def _tar_entry(name: str, mode: int, epoch: int, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, epoch
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def tar_gz(files: Files, epoch: int, prefix: str = "") -> bytes:
    """A gzip-compressed tar file whose gzip header has no time stamp."""
    return gzip.compress(tar_bytes(files, epoch, prefix), compresslevel=9, mtime=0)


def tar_xz(files: Files, epoch: int, prefix: str = "") -> bytes:
    """An xz-compressed tar file."""
    return lzma.compress(tar_bytes(files, epoch, prefix), preset=6)


def zip_bytes(files: Files, epoch: int) -> bytes:
    """A zip file, as wheels are. The time is UTC and not before 1980."""
    stamp = time.gmtime(max(epoch, 315532800))[:6]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            contents, mode = files[name]
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, contents, compresslevel=9)
    return buffer.getvalue()


def ar_bytes(members: list[tuple[str, bytes]], epoch: int) -> bytes:
    """An `ar` archive, as .deb files are."""
    out = b"!<arch>\n"
    for name, contents in members:
        header = f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(contents):<10}`\n"
        out += header.encode() + contents + (b"\n" if len(contents) % 2 else b"")
    return out


def untar(data: bytes) -> Files:
    """The regular files of a tar file, compressed or not."""
    files: Files = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for entry in tar:
            reader = tar.extractfile(entry) if entry.isreg() else None
            if reader is not None:
                files[entry.name] = (reader.read(), 0o755 if entry.mode & 0o100 else 0o644)
    return files
