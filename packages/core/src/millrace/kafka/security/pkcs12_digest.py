"""Check the password of a PKCS#12 store by its digest (RFC 7292, section 5.1 and appendix B).

The library that reads stores says the same of a wrong password and of a certificate that it rejects.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

_HASHES = {
    bytes.fromhex("06052b0e03021a"): "sha1",
    bytes.fromhex("0609608648016503040201"): "sha256",
    bytes.fromhex("0609608648016503040203"): "sha512",
}
"""Hash functions by their object identifiers in DER."""

_KEY_OF_DIGEST = 3
_MAX_ITERATIONS = 1_000_000


class Digest(NamedTuple):
    """The digest of a store's contents: the one in the file, and the one that a password gives."""

    written: bytes
    computed: bytes


def has_password(store: bytes, password: str) -> bool | None:
    """Return whether a store is intact and has a password; None where that cannot be determined."""
    try:
        digest = digest_of(store, password)
    except (ValueError, IndexError):
        return None
    return hmac.compare_digest(digest.written, digest.computed)


def digest_of(store: bytes, password: str) -> Digest:
    """Compute the digest of a store; ValueError or IndexError when it has none, or in another form."""
    _, content_info, mac = _children(store, _contents(store, 0))
    _, tagged = _children(store, content_info)
    (content,) = _children(store, tagged)
    digest_info, salt, iterations = _children(store, mac)
    algorithm, written = _children(store, digest_info)
    name = next((name for oid, name in _HASHES.items() if store[slice(*algorithm)].startswith(oid)), None)
    count = int.from_bytes(store[slice(*iterations)], "big")
    if name is None or not 0 < count <= _MAX_ITERATIONS:
        raise ValueError("the digest has another form")
    key = _key(password, store[slice(*salt)], count, name)
    return Digest(store[slice(*written)], hmac.digest(key, store[slice(*content)], name))


def _key(password: str, salt: bytes, iterations: int, name: str) -> bytes:
    block = hashlib.new(name, usedforsecurity=False).block_size
    text = password.encode("utf-16-be") + b"\0\0"
    key = bytes([_KEY_OF_DIGEST]) * block + _fill(salt, block) + _fill(text, block)
    for _ in range(iterations):
        key = hashlib.new(name, key, usedforsecurity=False).digest()
    return key


def _fill(value: bytes, block: int) -> bytes:
    """Repeat a value up to a multiple of the hash function's blocks."""
    length = -(-len(value) // block) * block
    return (value * (length // max(len(value), 1) + 1))[:length]


def _children(der: bytes, parent: tuple[int, int]) -> list[tuple[int, int]]:
    """Return where the contents of the values in a value begin and end."""
    children = []
    position, end = parent
    while position < end:
        children.append(_contents(der, position))
        position = children[-1][1]
    return children


def _contents(der: bytes, position: int) -> tuple[int, int]:
    length, begin = der[position + 1], position + 2
    if length >= 0x80:
        begin += length & 0x7F
        length = int.from_bytes(der[position + 2 : begin], "big")
    return begin, begin + length
