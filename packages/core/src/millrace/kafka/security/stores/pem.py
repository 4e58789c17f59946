"""PEM: certificates and keys as text."""

from __future__ import annotations

import re
import textwrap
from base64 import b64encode

from millrace.kafka.security.stores.model import Store

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)


def is_pem(text: str) -> bool:
    """Whether there is any PEM in a text."""
    return _BLOCK.search(text) is not None


def read_pem(text: str) -> Store:
    """All certificates of a text, and its first private key."""
    # Options often hold PEM in one line, with a backslash and an n where lines ended
    blocks = [(found[1], _block(found[1], found[2])) for found in _BLOCK.finditer(text.replace("\\n", "\n"))]
    certificates = "".join(block for kind, block in blocks if kind == "CERTIFICATE")
    key = next((block for kind, block in blocks if kind.endswith("PRIVATE KEY")), "")
    return Store(trusted=certificates, key=key, chain=certificates)


def pem(kind: str, der: bytes) -> str:
    """A block of PEM, such as of kind ``CERTIFICATE``."""
    return _block(kind, b64encode(der).decode())


def _block(kind: str, body: str) -> str:
    # Headers, which keys that are encrypted in the old way have, are kept as they are
    text = body.strip() if ":" in body else "\n".join(textwrap.wrap("".join(body.split()), 64))
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"
