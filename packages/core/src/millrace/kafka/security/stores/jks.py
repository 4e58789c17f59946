"""JKS, Java's own format of stores.

The library for it is not kept any more and brings others that do not install; the format is small and does not change:
entries, each a certificate or a key with its chain, then a digest over all of them and the password.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import Any

from millrace.kafka.security.stores.model import KeyPasswordError, Store, StoreError, StorePasswordError
from millrace.kafka.security.stores.pem import pem

MAGIC = b"\xfe\xed\xfe\xed"

_KEY, _CERTIFICATE = 1, 2
_SHA1_BYTES = 20
# The object identifier of the only way in which JKS protects keys, 1.3.6.1.4.1.42.2.17.1.1, in DER
_PROTECTION = bytes.fromhex("060a2b060104012a02110101")


def read_jks(data: bytes, password: str | None, key_password: str | None) -> Store:
    """The certificates that a store trusts, and its first key with its chain.

    Args:
        data: The file.
        password: Of the store. Without one the store is not checked, as in Java.
        key_password: Of the key; by default the store's.

    Raises:
        StorePasswordError, KeyPasswordError: A password is missing or wrong.
        StoreError: The file is damaged.
    """
    if password is not None and not hmac.compare_digest(_digest(password, data[:-_SHA1_BYTES]), data[-_SHA1_BYTES:]):
        raise StorePasswordError("the password is wrong, or the file is damaged")
    try:
        trusted, keys = _Reader(data).entries()
        if not keys:
            return Store(trusted=trusted)
        protected, chain = keys[0]
        return Store(trusted, _key(protected, key_password or password), chain)
    except (struct.error, IndexError) as error:
        raise StoreError("the file is damaged: it ends too early") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = len(MAGIC)

    def entries(self) -> tuple[str, list[tuple[bytes, str]]]:
        """The trusted certificates, and the protected keys with their chains."""
        version, count = self._take(">II")
        trusted, keys = "", []
        for _ in range(count):
            (kind,) = self._take(">I")
            self._text()  # The alias
            self._take(">q")  # When it was made
            if kind == _KEY:
                protected = self._bytes()
                (length,) = self._take(">I")
                keys.append((protected, "".join(self._certificate(version) for _ in range(length))))
            elif kind == _CERTIFICATE:
                trusted += self._certificate(version)
            else:
                raise StoreError(f"the file is damaged: it has an entry of kind {kind}")
        return trusted, keys

    def _certificate(self, version: int) -> str:
        if version > 1:
            self._text()  # The kind of certificate, always X.509
        return pem("CERTIFICATE", self._bytes())

    def _bytes(self) -> bytes:
        (length,) = self._take(">I")
        (found,) = self._take(f">{length}s")
        return found

    def _text(self) -> None:
        (length,) = self._take(">H")
        self._take(f">{length}s")

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found


def _key(protected: bytes, password: str | None) -> str:
    if password is None:
        raise StorePasswordError("a store with a key needs its password")
    if _PROTECTION not in protected[:32]:
        raise StoreError("its key is protected in a way that JKS does not have")
    # What is protected is the last part of its envelope: a salt, the key, and a digest of the key
    body = _last_octets(protected)
    salt, hidden, digest = body[:_SHA1_BYTES], body[_SHA1_BYTES:-_SHA1_BYTES], body[-_SHA1_BYTES:]
    plain = bytes(a ^ b for a, b in zip(hidden, _stream(password, salt, len(hidden)), strict=True))
    if not hmac.compare_digest(_sha1(_wide(password) + plain), digest):
        raise KeyPasswordError("the password of its key is wrong")
    return pem("PRIVATE KEY", plain)


def _last_octets(envelope: bytes) -> bytes:
    """The contents of the OCTET STRING that ends a DER SEQUENCE of an algorithm and that string."""
    start, _ = _inside(envelope, 0)
    _, end_of_algorithm = _inside(envelope, start)
    begin, end = _inside(envelope, end_of_algorithm)
    return envelope[begin:end]


def _inside(der: bytes, at: int) -> tuple[int, int]:
    """Where the contents of the DER value at ``at`` begin and end."""
    length = der[at + 1]
    if length < 0x80:
        return at + 2, at + 2 + length
    begin = at + 2 + (length & 0x7F)
    return begin, begin + int.from_bytes(der[at + 2 : begin], "big")


def _stream(password: str, salt: bytes, length: int) -> bytes:
    stream, block = b"", salt
    while len(stream) < length:
        block = _sha1(_wide(password) + block)
        stream += block
    return stream[:length]


def _digest(password: str, data: bytes) -> bytes:
    return _sha1(_wide(password) + b"Mighty Aphrodite" + data)


def _wide(password: str) -> bytes:
    return password.encode("utf-16-be")


def _sha1(data: bytes) -> bytes:
    # Not chosen here: it is what the format has
    return hashlib.sha1(data, usedforsecurity=False).digest()
