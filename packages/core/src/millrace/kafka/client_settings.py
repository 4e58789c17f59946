"""Settings of a Kafka client: files are found and stores are read in the process that creates the client."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from millrace.errors import OptionsError
from millrace.kafka.security.provider_login import EXTENSIONS, PROVIDER
from millrace.kafka.security.stores import KeyPasswordError, Store, StoreError, StorePasswordError, read_store
from millrace.kafka.security.ticket_caches import TICKET_CACHES
from millrace.kafka.security.tokens import token_callback
from millrace.kafka.security.trust_anchors import trust_settings
from millrace.options.files import FindFile, find_file
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
"""Java's properties of stores, which become the client's settings for certificates and keys here."""

CLIENT_ID_PREFIX = "client.id.prefix"
"""Not a property of any client: it becomes a ``client.id`` that is unique to each process."""

DEFAULT_CLIENT_ID_PREFIX = "millrace"

_FILE_PROPERTIES = (
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
"""Values that librdkafka takes instead of a path: use the system's certificate authorities."""

SLOW_RECONNECT = {"reconnect.backoff.ms": "400"}
"""The first pause between attempts to connect, in ms, of clients that may have to wait for brokers for long.

While no broker can be reached, librdkafka 2.16 begins anew with its bootstrap addresses after each round of failed
attempts, by new threads and with this first pause. By its default of 100 ms that takes 0.08 cores for each worker.
See docs/decisions/kafka-client.md.
"""

_RECONNECT_BACKOFFS = frozenset({"reconnect.backoff.ms", "reconnect.backoff.max.ms"})

_MESSAGE_MAX_BYTES = 1_000_000
"""librdkafka's default of ``message.max.bytes``."""

_OF_PRODUCERS = frozenset({"message.max.bytes", "request.timeout.ms"})
"""Properties of producers that a consumer would refuse beside its own, or warn of without need."""


PRODUCER_PROPERTIES = frozenset(
    {
        "acks",
        "batch.num.messages",
        "batch.size",
        "compression.codec",
        "compression.level",
        "compression.type",
        "delivery.timeout.ms",
        "enable.gapless.guarantee",
        "enable.idempotence",
        "linger.ms",
        "message.send.max.retries",
        "message.timeout.ms",
        "queue.buffering.backpressure.threshold",
        "queue.buffering.max.kbytes",
        "queue.buffering.max.messages",
        "queue.buffering.max.ms",
        "queuing.strategy",
        "request.required.acks",
        "request.timeout.ms",
        "retries",
        "sticky.partitioning.linger.ms",
        "transaction.timeout.ms",
    }
)
"""librdkafka's properties of producers alone, marked P in its CONFIGURATION.md."""


def without_producer_properties(client: Properties) -> Properties:
    """Return a sink's properties for a consumer, which would warn of each that only producers have."""
    return Properties({name: value for name, value in client.items() if name not in PRODUCER_PROPERTIES})


def consumer_settings(client: Properties) -> dict[str, str]:
    """Return the settings of a consumer of this process, see `client_settings`."""
    settings = {name: value for name, value in client_settings(client).items() if name not in _OF_PRODUCERS}
    if "fetch.max.bytes" in settings:
        # librdkafka refuses a fetch that is smaller than the largest message; Java's client does not
        settings["message.max.bytes"] = str(min(int(settings["fetch.max.bytes"]), _MESSAGE_MAX_BYTES))
    return settings


def with_reconnect_backoffs(settings: Mapping[str, Any], backoffs: Mapping[str, str]) -> dict[str, Any]:
    """Return a client's settings with other pauses before it connects again, unless the user has set one of them.

    The client refuses a first pause that is longer than the longest one, which may be the user's.

    Args:
        settings: The client's settings, with the user's.
        backoffs: ``reconnect.backoff.ms`` and perhaps ``reconnect.backoff.max.ms``, in ms.
    """
    return dict(settings) if _RECONNECT_BACKOFFS & settings.keys() else {**settings, **backoffs}


def client_settings(client: Properties, find: FindFile = find_file) -> Properties:
    """Return the settings of a Kafka client that this process is about to create, all of them librdkafka's.

    A process reads each file once. Where a token provider is configured, there is a token when this returns.

    Args:
        client: Properties as they were configured, on the driver.
        find: Finds a file by the name that an option gives, or raises a `ValueError`.

    Raises:
        OptionsError: A file is missing, a password is wrong, or a store cannot be read or does not hold what it must;
            or this process has logged in another principal of Kerberos.
        ClientError: The token provider has no token.
        MachineError: The token provider's library is not installed.
    """
    settings = _file_settings(client, find)
    TICKET_CACHES.check(settings)
    if PROVIDER not in client:
        return settings
    extensions = settings.get(EXTENSIONS, "")
    callback = token_callback(client[PROVIDER], client["bootstrap.servers"], extensions)
    return Properties({**settings, "oauth_cb": callback})


@functools.lru_cache(maxsize=16)
def _file_settings(client: Properties, find: FindFile) -> Properties:
    settings = {name: value for name, value in client.items() if name not in (*STORE_OPTIONS, PROVIDER)}
    prefix = settings.pop(CLIENT_ID_PREFIX, DEFAULT_CLIENT_ID_PREFIX)
    settings.setdefault("client.id", f"{prefix}-{socket.gethostname()}-{os.getpid()}")
    for name in _FILE_PROPERTIES:
        if name in settings and settings[name] not in _NO_FILE:
            settings[name] = str(_find(find, f"properties.{name}", settings[name]))
    return Properties({**settings, **_ca_settings(client, find), **_key_settings(client, find)})


def _find(find: FindFile, option: str, name: str) -> Path:
    try:
        return find(name)
    except ValueError as error:
        raise OptionsError(
            "millrace",
            (
                f"option '{option}': {error}. Put it there on the driver and all executors, or let Spark distribute "
                f"it, by its setting 'spark.files' or by spark.addArtifact(path, file=True) or "
                f"SparkContext.addFile(path), and give the option the file's name alone",
            ),
        ) from None


def _ca_settings(client: Properties, find: FindFile) -> dict[str, str]:
    store = _store(client, "truststore", ("ssl.truststore.certificates",), None, find)
    if store is None:
        return {}
    if not store.trusted:
        raise _error(_store_property(client, "truststore"), "it holds no certificate to trust")
    try:
        return trust_settings(store.trusted)
    except StoreError as error:
        raise _error(_store_property(client, "truststore"), str(error)) from None


def _key_settings(client: Properties, find: FindFile) -> dict[str, str]:
    inline = ("ssl.keystore.key", "ssl.keystore.certificate.chain")
    store = _store(client, "keystore", inline, client.get("ssl.key.password"), find)
    if store is None:
        return {}
    missing = [noun for noun, pem in (("private key", store.key), ("certificate", store.chain)) if not pem]
    if missing:
        raise _error(_store_property(client, "keystore"), f"it holds no {' and no '.join(missing)}")
    return {"ssl.certificate.pem": store.chain, "ssl.key.pem": store.key}


def _store(
    client: Properties, kind: str, inline: tuple[str, ...], key_password: str | None, find: FindFile
) -> Store | None:
    """Read a truststore or keystore from its file or, as PEM, from the properties that hold it; None if not given."""
    data = "\n".join(client[name] for name in inline if name in client).encode()
    location = f"ssl.{kind}.location"
    if location in client:
        data = _read(_find(find, f"properties.{location}", client[location]), location)
    elif not data:
        return None
    try:
        return read_store(data, client.get(f"ssl.{kind}.password"), key_password)
    except KeyPasswordError as error:
        raise _error("ssl.key.password", f"{error}; it is the key's own password, by default the store's") from None
    except StorePasswordError as error:
        note = "" if f"ssl.{kind}.password" in client else " (it is not given)"
        raise _error(f"ssl.{kind}.password", f"{error}{note}; looked at {client.get(location)!r}") from None
    except StoreError as error:
        raise _error(_store_property(client, kind), str(error)) from None


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _error(name, f"{path} cannot be read: {error.strerror}") from error


def _store_property(client: Properties, kind: str) -> str:
    location = f"ssl.{kind}.location"
    if location in client:
        return location
    return "ssl.truststore.certificates" if kind == "truststore" else "ssl.keystore.key"


def _error(name: str, problem: str) -> OptionsError:
    return OptionsError("millrace", (f"option 'properties.{name}': {problem}",))
