"""What a Kafka client is made with: files are found and stores are read here, in the process that makes the client."""

from __future__ import annotations

import functools
import os
import socket
from pathlib import Path

from millrace.errors import OptionsError
from millrace.kafka.files import find_file
from millrace.kafka.security.stores import KeyPasswordError, Store, StoreError, StorePasswordError, read_store
from millrace.options.secrets import Properties

STORE_OPTIONS = frozenset(
    {
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
"""Java's properties of stores, which become ``ssl.ca.pem``, ``ssl.certificate.pem`` and ``ssl.key.pem`` here."""

CLIENT_ID_PREFIX = "client.id.prefix"
"""Not a property of any client: it becomes a ``client.id`` that is another one in each process."""

DEFAULT_CLIENT_ID_PREFIX = "millrace"

_FILES = (
    "https.ca.location",
    "sasl.kerberos.keytab",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.crl.location",
    "ssl.key.location",
)
_NO_FILE = {"probe"}
"""What librdkafka takes instead of the place of a file: look where the system's authorities are."""


@functools.lru_cache(maxsize=16)
def client_settings(client: Properties) -> Properties:
    """The properties for a Kafka client of this process, all of them librdkafka's.

    The files are read once in a process, which also makes its clients once.

    Args:
        client: Properties as they were configured, on the driver.

    Raises:
        OptionsError: A file is missing, a password is wrong, or a store cannot be read or lacks what it is given for.
    """
    settings = {name: value for name, value in client.items() if name not in STORE_OPTIONS}
    prefix = settings.pop(CLIENT_ID_PREFIX, DEFAULT_CLIENT_ID_PREFIX)
    settings.setdefault("client.id", f"{prefix}-{socket.gethostname()}-{os.getpid()}")
    for name in _FILES:
        if name in settings and settings[name] not in _NO_FILE:
            settings[name] = str(find_file(f"properties.{name}", settings[name]))
    return Properties({**settings, **_authorities(client), **_identity(client)})


def _authorities(client: Properties) -> dict[str, str]:
    store = _store(client, "truststore", ("ssl.truststore.certificates",), None)
    if store is None:
        return {}
    if not store.trusted:
        raise _error(_given_as(client, "truststore"), "it holds no certificate to trust")
    return {"ssl.ca.pem": store.trusted}


def _identity(client: Properties) -> dict[str, str]:
    inline = ("ssl.keystore.key", "ssl.keystore.certificate.chain")
    store = _store(client, "keystore", inline, client.get("ssl.key.password"))
    if store is None:
        return {}
    missing = [what for what, found in (("private key", store.key), ("certificate", store.chain)) if not found]
    if missing:
        raise _error(_given_as(client, "keystore"), f"it holds no {' and no '.join(missing)}")
    return {"ssl.certificate.pem": store.chain, "ssl.key.pem": store.key}


def _store(client: Properties, kind: str, inline: tuple[str, ...], key_password: str | None) -> Store | None:
    """The store that is given by its file or, as PEM, by options that hold it; None without any."""
    data = "\n".join(client[name] for name in inline if name in client).encode()
    place = f"ssl.{kind}.location"
    if place in client:
        data = _read(find_file(f"properties.{place}", client[place]), place)
    elif not data:
        return None
    try:
        return read_store(data, client.get(f"ssl.{kind}.password"), key_password)
    except KeyPasswordError as error:
        raise _error("ssl.key.password", f"{error}; it is the key's own password, by default the store's") from None
    except StorePasswordError as error:
        what = "" if f"ssl.{kind}.password" in client else " (it is not given)"
        raise _error(f"ssl.{kind}.password", f"{error}{what}; looked at {client.get(place)!r}") from None
    except StoreError as error:
        raise _error(_given_as(client, kind), str(error)) from None


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _error(name, f"{path} cannot be read: {error.strerror}") from error


def _given_as(client: Properties, kind: str) -> str:
    location = f"ssl.{kind}.location"
    if location in client:
        return location
    return "ssl.truststore.certificates" if kind == "truststore" else "ssl.keystore.key"


def _error(name: str, problem: str) -> OptionsError:
    return OptionsError("millrace", (f"option 'properties.{name}': {problem}",))
