"""The contents of a truststore or keystore, as PEM (RFC 7468)."""

from __future__ import annotations

import re
import textwrap
from base64 import b64encode
from dataclasses import dataclass, field

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)


class StoreError(ValueError):
    """A store cannot be read; the message shows nothing of its contents."""


class StorePasswordError(StoreError):
    """The password of a store is missing or wrong."""


class KeyPasswordError(StoreError):
    """The password of a key in a store is missing or wrong."""


@dataclass(frozen=True)
class Store:
    """The contents of a store, as PEM; empty where there is nothing.

    Attributes:
        trusted: The trusted certificates.
        key: The first private key; encrypted only if the store is PEM and has it so.
        chain: The certificate of that key, and those that lead from it to its authority.
    """

    trusted: str = ""
    key: str = field(default="", repr=False)
    chain: str = ""


def is_pem(text: str) -> bool:
    """Return whether a text contains a PEM block."""
    return _BLOCK.search(text) is not None


def read_pem(text: str) -> Store:
    """Read all certificates of a text, and its first private key."""
    # Options often hold PEM in one line, with a backslash and an n where lines ended
    blocks = [(match[1], _format(match[1], match[2])) for match in _BLOCK.finditer(text.replace("\\n", "\n"))]
    certificates = "".join(block for label, block in blocks if label == "CERTIFICATE")
    key = next((block for label, block in blocks if label.endswith("PRIVATE KEY")), "")
    return Store(trusted=certificates, key=key, chain=certificates)


def pem_block(label: str, der: bytes) -> str:
    """Encode DER as a PEM block, such as one labelled ``CERTIFICATE``."""
    return _format(label, b64encode(der).decode())


def _format(label: str, body: str) -> str:
    # Headers, which keys that are encrypted in the old way have, are kept as they are
    text = body.strip() if ":" in body else "\n".join(textwrap.wrap("".join(body.split()), 64))
    return f"-----BEGIN {label}-----\n{text}\n-----END {label}-----\n"
