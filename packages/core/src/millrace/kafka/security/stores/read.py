"""Reads a store of whichever kind it is. What the file holds decides, since names and types of stores often lie."""

from __future__ import annotations

from millrace.kafka.security.stores.jks import MAGIC, read_jks
from millrace.kafka.security.stores.model import Store, StoreError
from millrace.kafka.security.stores.pem import is_pem, read_pem

_JCEKS = b"\xce\xce\xce\xce"


def read_store(data: bytes, password: str | None = None, key_password: str | None = None) -> Store:
    """What a truststore or keystore holds.

    Args:
        data: The file: JKS, PKCS#12 or PEM.
        password: Of the store; PEM has none.
        key_password: Of the key, where it has its own.

    Raises:
        StorePasswordError, KeyPasswordError: A password is missing or wrong.
        StoreError: The file is of another kind, or damaged.
    """
    if data.startswith(MAGIC):
        return read_jks(data, password, key_password)
    if data.startswith(_JCEKS):
        raise StoreError("JCEKS stores are not supported; convert it: keytool -importkeystore -deststoretype PKCS12")
    text = data.decode("latin-1")
    if is_pem(text):
        return read_pem(text)
    # Its library takes a while to load, which those without such a store need not wait for
    from millrace.kafka.security.stores.pkcs12 import read_pkcs12

    return read_pkcs12(data, password)
