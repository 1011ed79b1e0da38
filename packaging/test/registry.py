# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A package registry on this machine: npm packages from .tgz files, and any other file of the directory unchanged."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tarfile
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Registry:
    """Serves directories on 127.0.0.1 until `close`."""

    def __init__(self, directories: list[Path]) -> None:
        self.files = {path.name: path for directory in directories for path in sorted(directory.iterdir())}
        self.packages: dict[str, dict[str, Any]] = {}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answers with a file or a package description."""
                name = urllib.parse.unquote(self.path.split("?")[0].lstrip("/"))
                body = registry.answer(name)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                """Suppresses the log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        for path in self.files.values():
            if path.suffix == ".tgz":
                self._add(path)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """Port of the server."""
        return self.server.server_port

    def answer(self, name: str) -> bytes | None:
        """The body for a path, or nothing."""
        if name in self.packages:
            return json.dumps(self.packages[name]).encode()
        return self.files[name].read_bytes() if name in self.files else None

    def _add(self, path: Path) -> None:
        with tarfile.open(path) as tar:
            member = next(it for it in tar if it.name.count("/") == 1 and it.name.endswith("/package.json"))
            reader = tar.extractfile(member)
            description = json.loads(reader.read()) if reader else {}
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        description["dist"] = {"tarball": f"{self.url}/{path.name}", "integrity": f"sha512-{digest}"}
        package = self.packages.setdefault(description["name"], {"name": description["name"], "versions": {}})
        package["versions"][description["version"]] = description
        package["dist-tags"] = {"latest": description["version"]}

    def close(self) -> None:
        """Stops the server."""
        self.server.shutdown()
        self.server.server_close()


def download_npm_dependencies(lock: Path, target: Path) -> None:
    """Downloads the run-time dependencies of the SDK at the versions of its lock file."""
    target.mkdir(parents=True, exist_ok=True)
    registry = subprocess.run(["npm", "config", "get", "registry"], check=True, capture_output=True, text=True).stdout.strip()
    for name, entry in json.loads(lock.read_text())["packages"].items():
        if not name or entry.get("dev") or entry.get("optional"):
            continue
        package, version = name.split("node_modules/")[-1], entry["version"]
        file = target / f"{package.replace('/', '+')}-{version}.tgz"
        if not file.exists():
            url = f"{registry.rstrip('/')}/{package}/-/{package.split('/')[-1]}-{version}.tgz"
            with urllib.request.urlopen(url, timeout=60) as answer:
                data = answer.read()
            algorithm, _, expected = entry["integrity"].partition("-")
            if base64.b64encode(hashlib.new(algorithm, data).digest()).decode() != expected:
                raise SystemExit(f"{url} differs from the lock file")
            file.write_bytes(data)
