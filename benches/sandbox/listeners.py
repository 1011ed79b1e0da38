# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Listeners outside of the sandbox. A thread notes which of them get the attacker's mark."""

from __future__ import annotations

import os
import selectors
import socket
import threading
from pathlib import Path

from registry import MARK

ETHERTYPE_EXPERIMENTAL = 0x88B5


class Listeners:
    """Unix, TCP, UDP and raw sockets with one thread that reads from all of them."""

    def __init__(self) -> None:
        self.received: dict[str, bytes] = {}
        self.unavailable: dict[str, str] = {}
        self._descriptor_file: Path | None = None
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._sockets: dict[str, socket.socket] = {}
        self._wake, wake = socket.socketpair()
        self._selector.register(wake, selectors.EVENT_READ, ("wake", False))
        threading.Thread(target=self._serve, daemon=True).start()

    def clear(self) -> None:
        self.received = {}

    def serve_descriptor(self, path: Path) -> None:
        """Name the file whose descriptor the service `descriptor-service` gives to every client."""
        self._descriptor_file = path

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                name, accepts = key.data
                try:
                    if accepts:
                        self._accept(name, key.fileobj)
                    else:
                        self._read(name, key.fileobj)
                except OSError:
                    self._forget(key.fileobj)

    def _accept(self, name: str, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.setblocking(False)
        if name == "descriptor-service" and self._descriptor_file:
            number = os.open(self._descriptor_file, os.O_RDWR)
            socket.send_fds(connection, [b"x"], [number])
            os.close(number)
        self._register(connection, name, accepts=False)

    def _read(self, name: str, source: socket.socket) -> None:
        text = source.recv(65536)
        if not text and source.type == socket.SOCK_STREAM:
            self._forget(source)
        elif name != "wake" and MARK.lower() in text.lower():
            self.received[name] = self.received.get(name, b"") + text

    def _forget(self, source) -> None:
        with self._lock:
            try:
                self._selector.unregister(source)
            except (KeyError, ValueError):
                pass
            source.close()

    def _register(self, source: socket.socket, name: str, accepts: bool) -> None:
        source.setblocking(False)
        with self._lock:
            self._selector.register(source, selectors.EVENT_READ, (name, accepts))
        self._wake.send(b"x")

    def _bind(self, name: str, make) -> socket.socket | None:
        """Bind a listener; remember the reason if the system refuses it."""
        try:
            bound = make()
        except OSError as error:
            self.unavailable[name] = str(error)
            return None
        if bound.type == socket.SOCK_STREAM:
            bound.listen(16)
        self._sockets[name] = bound
        self._register(bound, name, accepts=bound.type == socket.SOCK_STREAM)
        return bound

    def unix(self, name: str, path: str, uid: int, datagram: bool = False) -> None:
        """Bind a Unix socket that the user may connect to. A path that exists is left alone."""
        def make() -> socket.socket:
            missing = [parent for parent in (Path(path), *Path(path).parents) if not parent.exists()]
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if datagram else socket.SOCK_STREAM)
            bound.bind(path)
            if os.getuid() == 0:
                for part in missing:
                    os.chown(part, uid, uid)
            return bound
        if name in self._sockets:
            self._forget(self._sockets.pop(name))
        self._bind(name, make)

    def abstract(self, name: str, address: str, datagram: bool = False) -> None:
        def make() -> socket.socket:
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if datagram else socket.SOCK_STREAM)
            bound.bind(b"\0" + address.encode())
            return bound
        self._bind(name, make)

    def internet(self, name: str, address: str = "::", port: int = 0, datagram: bool = False, protocol: int = 0) -> int:
        """Bind a TCP or UDP listener; `::` also takes IPv4. Returns the port, or 9 if there is none."""
        def make() -> socket.socket:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            bound = socket.socket(family, socket.SOCK_DGRAM if datagram else socket.SOCK_STREAM, protocol)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            bound.bind((address, port))
            return bound
        bound = self._bind(name, make)
        return bound.getsockname()[1] if bound else 9

    def raw(self) -> None:
        """Receive ICMP packets and frames; needs privileges."""
        self._bind("icmp", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))

        def packet() -> socket.socket:
            bound = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_EXPERIMENTAL))
            bound.bind(("lo", ETHERTYPE_EXPERIMENTAL))
            return bound
        self._bind("packet", packet)
