# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes generated files: the gRPC stubs from the proto, and the typed signatures from the events.

python tools/generate.py            write
python tools/generate.py --check    list stale files, and fail if there are any
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SDK = HERE.parent
PACKAGE = SDK / "src" / "tenterhook"
PROTO = SDK.parent.parent / "proto"
sys.path[:0] = [str(SDK / "src"), str(HERE)]


def stubs() -> dict[Path, str]:
    """The stubs, as the compiler writes them."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as out:
        ways = [f"--{way}_out={out}" for way in ("python", "pyi", "grpc_python", "mypy_grpc")]
        protos = [str(path) for path in sorted(PROTO.glob("tenterhook/v1/*.proto"))]
        plugin = f"--plugin=protoc-gen-mypy_grpc={Path(sys.executable).parent / 'protoc-gen-mypy_grpc'}"
        if protoc.main(["protoc", f"-I{PROTO}", plugin, *ways, *protos]) != 0:
            raise SystemExit("the proto cannot be compiled")
        written = sorted(Path(out, "tenterhook", "v1").iterdir())
        return {PACKAGE / "v1" / path.name: path.read_text() for path in written}


def everything() -> dict[Path, str]:
    """All generated files and their texts."""
    import reference
    import signatures

    files = stubs()
    files[PACKAGE / "registering.py"] = signatures.text()
    files[SDK.parent.parent / "docs" / "reference" / "sdk-python.md"] = reference.text()
    return files


def main() -> int:
    """Writes or checks the generated files."""
    if "--check" not in sys.argv[1:]:
        # The package may need new definitions before the reference is generated from it.
        write(stubs())
    files = everything()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"stale: {path} (write it with `make sdk-python-generate`)", file=sys.stderr)
        return 1 if stale else 0
    write(files)
    return 0


def write(files: dict[Path, str]) -> None:
    """Writes the stale files."""
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {path}")


if __name__ == "__main__":
    raise SystemExit(main())
