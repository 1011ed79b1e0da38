# SPDX-License-Identifier: Apache-2.0 OR MIT
"""minisign keys and signatures.

Python's standard library has BLAKE2b but no Ed25519, so OpenSSL 3 creates the signatures. If a key is encrypted with a
passphrase, the `minisign` program signs instead and asks for the passphrase.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

PKCS8_PREFIX = bytes.fromhex("302e020100300506032b657004220420")
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")
SECRET_KEY_BYTES = 158


class SigningError(Exception):
    """A key that cannot be used, or a tool that is missing."""


@dataclass(frozen=True)
class SigningKey:
    """A signing key. `seed` is empty for an encrypted key, which only `minisign` can use."""

    path: Path
    key_id: bytes
    seed: bytes
    public: bytes

    @property
    def public_base64(self) -> str:
        """The public key as minisign writes it."""
        return base64.b64encode(b"Ed" + self.key_id + self.public).decode()

    @property
    def public_file(self) -> str:
        """Contents of the .pub file."""
        return f"untrusted comment: minisign public key {self.key_name}\n{self.public_base64}\n"

    @property
    def key_name(self) -> str:
        """The key's identifier as minisign prints it."""
        return self.key_id[::-1].hex().upper()

    def sign(self, file: Path, trusted_comment: str) -> None:
        """Writes `<file>.minisig`, prehashed with BLAKE2b."""
        target = file.with_name(file.name + ".minisig")
        comment = "signature from the Tenterhook release key"
        if not self.seed:
            command = ["minisign", "-S", "-s", str(self.path), "-m", str(file), "-x", str(target)]
            subprocess.run([*command, "-c", comment, "-t", trusted_comment], check=True)
            return
        signature = self._ed25519(hashlib.blake2b(file.read_bytes()).digest())
        global_signature = self._ed25519(signature + trusted_comment.encode())
        lines = [
            f"untrusted comment: {comment}",
            base64.b64encode(b"ED" + self.key_id + signature).decode(),
            f"trusted comment: {trusted_comment}",
            base64.b64encode(global_signature).decode(),
        ]
        target.write_text("\n".join(lines) + "\n")

    def _ed25519(self, message: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as name:
            key, data, signature = (Path(name) / part for part in ("key", "data", "signature"))
            key.touch(mode=0o600)
            key.write_bytes(PKCS8_PREFIX + self.seed)
            data.write_bytes(message)
            openssl("pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key, "-in", data, "-out", signature)
            return signature.read_bytes()


def openssl(*arguments: str | Path) -> None:
    """Runs OpenSSL. If it fails, its error message is part of the exception."""
    if shutil.which("openssl") is None:
        raise SigningError("openssl is missing (version 3 or newer)")
    ran = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SigningError(f"openssl {arguments[0]} failed: {ran.stderr.strip()}")


def load(path: Path, public_path: Path | None = None) -> SigningKey:
    """Reads a secret key in minisign's format."""
    lines = path.read_text().splitlines()
    try:
        data = base64.b64decode(lines[1], validate=True)
    except (IndexError, ValueError) as error:
        raise SigningError(f"{path} is not a minisign secret key") from error
    if len(data) != SECRET_KEY_BYTES or data[:2] != b"Ed":
        raise SigningError(f"{path} is not a minisign secret key")
    if data[2:4] == b"Sc":
        if public_path is None or shutil.which("minisign") is None:
            raise SigningError(f"{path} has a passphrase: that needs `minisign` and its public key beside it (.pub)")
        public = base64.b64decode(public_path.read_text().splitlines()[1])
        return SigningKey(path, public[2:10], b"", public[10:42])
    key_id, secret, checksum = data[54:62], data[62:126], data[126:158]
    if hashlib.blake2b(b"Ed" + key_id + secret, digest_size=32).digest() != checksum:
        raise SigningError(f"{path} is damaged: wrong checksum")
    return SigningKey(path, key_id, secret[:32], secret[32:])


def generate(path: Path) -> SigningKey:
    """Writes a new secret key without a passphrase, and its public key beside it."""
    with tempfile.TemporaryDirectory() as name:
        private, public = Path(name) / "private", Path(name) / "public"
        openssl("genpkey", "-algorithm", "ed25519", "-outform", "DER", "-out", private)
        openssl("pkey", "-inform", "DER", "-in", private, "-pubout", "-outform", "DER", "-out", public)
        seed, verifying = private.read_bytes()[-32:], public.read_bytes()[-32:]
    key_id, secret = os.urandom(8), seed + verifying
    checksum = hashlib.blake2b(b"Ed" + key_id + secret, digest_size=32).digest()
    data = b"Ed\0\0B2" + bytes(48) + key_id + secret + checksum
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(f"untrusted comment: minisign secret key\n{base64.b64encode(data).decode()}\n")
    key = load(path)
    path.with_suffix(".pub").write_text(key.public_file)
    return key
