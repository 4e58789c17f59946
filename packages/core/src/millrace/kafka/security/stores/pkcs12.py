"""PKCS#12, which Java writes by default, also into files that are named .jks."""

from __future__ import annotations

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, load_pkcs12

from millrace.kafka.security.stores.model import Store, StoreError, StorePasswordError


def read_pkcs12(data: bytes, password: str | None) -> Store:
    """The certificates of a store, and its key with its chain, which is decrypted in memory.

    Raises:
        StorePasswordError: The password is missing or wrong.
        StoreError: The file is none of this format, or damaged.
    """
    try:
        found = load_pkcs12(data, None if password is None else password.encode())
    except ValueError as error:
        if "password" in str(error).lower():
            raise StorePasswordError("the password is wrong, or the file is damaged") from None
        raise StoreError("it is neither PEM, JKS nor PKCS#12, or damaged") from None
    others = "".join(map(_pem, found.additional_certs))
    if found.key is None:
        return Store(trusted=others)
    key = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Store(others, key, (_pem(found.cert) if found.cert else "") + others)


def _pem(found: PKCS12Certificate) -> str:
    return found.certificate.public_bytes(Encoding.PEM).decode()
