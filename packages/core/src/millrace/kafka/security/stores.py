"""Read truststores and keystores in the formats of Java: JKS, PKCS#12 and PEM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.kafka.security.jks import JKS_MAGIC, read_jks
from millrace.kafka.security.pem import KeyPasswordError, Store, StoreError, StorePasswordError, is_pem, read_pem
from millrace.kafka.security.pkcs12_digest import has_password

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate

__all__ = ["KeyPasswordError", "Store", "StoreError", "StorePasswordError", "read_store"]

_JCEKS_MAGIC = b"\xce\xce\xce\xce"

_DER_SEQUENCE = b"\x30"
_PFX_VERSION = b"\x02\x01\x03"
"""The first element of a PKCS#12 file, the integer 3 in DER (RFC 7292, section 4)."""

_MAX_DER_HEADER = 6


def read_store(data: bytes, password: str | None = None, key_password: str | None = None) -> Store:
    """Read a truststore or keystore; its format is detected, since names and declared types of stores are often wrong.

    Args:
        data: The file.
        password: The store's password; PEM has none.
        key_password: The key's password, if it has its own.

    Raises:
        StorePasswordError, KeyPasswordError: A password is missing or wrong.
        StoreError: The file has another format, or is damaged.
    """
    if data.startswith(JKS_MAGIC):
        return read_jks(data, password, key_password)
    if data.startswith(_JCEKS_MAGIC):
        raise StoreError("JCEKS stores are not supported; convert it: keytool -importkeystore -deststoretype PKCS12")
    text = data.decode("latin-1")
    if is_pem(text):
        return read_pem(text)
    if data.startswith(_DER_SEQUENCE) and _PFX_VERSION in data[: _MAX_DER_HEADER + len(_PFX_VERSION)]:
        return _read_pkcs12(data, password)
    raise StoreError("it is neither PEM, JKS nor PKCS#12, or damaged")


def _read_pkcs12(data: bytes, password: str | None) -> Store:
    """Read a PKCS#12 store, Java's default, also for files named .jks; the key is decrypted in memory."""
    # The library takes a while to load, which clients without such a store need not wait for
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    from cryptography.x509 import InvalidVersion

    try:
        store = load_pkcs12(data, None if password is None else password.encode())
    except (InvalidVersion, UnsupportedAlgorithm) as error:
        raise StoreError(_rejected(f" ({error})")) from None
    except ValueError:
        # The library's error of all other faults; the store's digest tells whether the password is one of them
        is_right = has_password(data, password or "")
        if is_right:
            raise StoreError(_rejected("")) from None
        rejected = f", or {_rejected('')}" if is_right is None else ""
        raise StorePasswordError(f"the password is wrong, or the file is damaged{rejected}") from None
    certificates = "".join(map(_certificate_pem, store.additional_certs))
    if store.key is None:
        return Store(trusted=certificates)
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Store(certificates, key, (_certificate_pem(store.cert) if store.cert else "") + certificates)


def _rejected(reason: str) -> str:
    return (
        f"it holds a certificate or key that the library 'cryptography' rejects{reason}. Issue it again, or give the "
        f"store as PEM: openssl pkcs12 -in STORE -nodes -out STORE.pem"
    )


def _certificate_pem(certificate: PKCS12Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.certificate.public_bytes(Encoding.PEM).decode()
