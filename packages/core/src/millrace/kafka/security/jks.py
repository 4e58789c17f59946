"""Read JKS, Java's own format of truststores and keystores.

The library for it is unmaintained and depends on others that do not install. The format is small and does not change:
entries, each a certificate or a key with its chain, then a digest of all of them and the password; see OpenJDK's
sun.security.provider.JavaKeyStore and KeyProtector.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import Any

from millrace.kafka.security.pem import KeyPasswordError, Store, StoreError, StorePasswordError, pem_block

JKS_MAGIC = b"\xfe\xed\xfe\xed"

_KEY, _CERTIFICATE = 1, 2
_SHA1_BYTES = 20
# The object identifier of the only algorithm that encrypts keys in JKS, 1.3.6.1.4.1.42.2.17.1.1, in DER
_KEY_PROTECTION_OID = bytes.fromhex("060a2b060104012a02110101")


def read_jks(data: bytes, password: str | None, key_password: str | None) -> Store:
    """Read the trusted certificates of a store, and its first key with its chain.

    Args:
        data: The file.
        password: The store's password. Without one the store is not checked, as in Java.
        key_password: The key's password; by default the store's.

    Raises:
        StorePasswordError, KeyPasswordError: A password is missing or wrong.
        StoreError: The file is damaged.
    """
    if password is not None and not hmac.compare_digest(_digest(password, data[:-_SHA1_BYTES]), data[-_SHA1_BYTES:]):
        raise StorePasswordError("the password is wrong, or the file is damaged")
    try:
        trusted, keys = _KeyStoreReader(data).entries()
        if not keys:
            return Store(trusted=trusted)
        encrypted, chain = keys[0]
        return Store(trusted, _decrypt_key(encrypted, key_password or password), chain)
    except (struct.error, IndexError) as error:
        raise StoreError("the file is damaged: it ends too early") from error


class _KeyStoreReader:
    """Read a store from the beginning, field by field; numbers are big-endian."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = len(JKS_MAGIC)

    def entries(self) -> tuple[str, list[tuple[bytes, str]]]:
        """Read the trusted certificates, and the encrypted keys with their chains."""
        version, count = self._take(">II")
        trusted, keys = "", []
        for _ in range(count):
            (kind,) = self._take(">I")
            self._text()  # The alias
            self._take(">q")  # The creation time
            if kind == _KEY:
                encrypted = self._bytes()
                (length,) = self._take(">I")
                keys.append((encrypted, "".join(self._certificate(version) for _ in range(length))))
            elif kind == _CERTIFICATE:
                trusted += self._certificate(version)
            else:
                raise StoreError(f"the file is damaged: it has an entry of kind {kind}")
        return trusted, keys

    def _certificate(self, version: int) -> str:
        if version > 1:
            self._text()  # The type of certificate, always X.509
        return pem_block("CERTIFICATE", self._bytes())

    def _bytes(self) -> bytes:
        (length,) = self._take(">I")
        (value,) = self._take(f">{length}s")
        return value

    def _text(self) -> None:
        (length,) = self._take(">H")
        self._take(f">{length}s")

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._position)
        self._position += struct.calcsize(form)
        return values


def _decrypt_key(encrypted: bytes, password: str | None) -> str:
    if password is None:
        raise StorePasswordError("a store with a key needs its password")
    if _KEY_PROTECTION_OID not in encrypted[:32]:
        raise StoreError("its key is protected in a way that JKS does not have")
    # The last element of the envelope: a salt, the encrypted key, and a digest of the key
    body = _last_octets(encrypted)
    salt, ciphertext, digest = body[:_SHA1_BYTES], body[_SHA1_BYTES:-_SHA1_BYTES], body[-_SHA1_BYTES:]
    key = bytes(a ^ b for a, b in zip(ciphertext, _key_stream(password, salt, len(ciphertext)), strict=True))
    if not hmac.compare_digest(_sha1(_utf16(password) + key), digest):
        raise KeyPasswordError("the password of its key is wrong")
    return pem_block("PRIVATE KEY", key)


def _last_octets(envelope: bytes) -> bytes:
    """Return the contents of the OCTET STRING in a DER SEQUENCE of an algorithm and that string."""
    start, _ = _contents(envelope, 0)
    _, end_of_algorithm = _contents(envelope, start)
    begin, end = _contents(envelope, end_of_algorithm)
    return envelope[begin:end]


def _contents(der: bytes, position: int) -> tuple[int, int]:
    """Return where the contents of the DER value at a position begin and end."""
    length = der[position + 1]
    if length < 0x80:
        return position + 2, position + 2 + length
    begin = position + 2 + (length & 0x7F)
    return begin, begin + int.from_bytes(der[position + 2 : begin], "big")


def _key_stream(password: str, salt: bytes, length: int) -> bytes:
    stream, block = b"", salt
    while len(stream) < length:
        block = _sha1(_utf16(password) + block)
        stream += block
    return stream[:length]


def _digest(password: str, data: bytes) -> bytes:
    return _sha1(_utf16(password) + b"Mighty Aphrodite" + data)


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be")


def _sha1(data: bytes) -> bytes:
    # Prescribed by the format
    return hashlib.sha1(data, usedforsecurity=False).digest()
