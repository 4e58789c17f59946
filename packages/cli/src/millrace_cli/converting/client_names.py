"""Tell which properties the Kafka clients know, Java's and librdkafka."""

from __future__ import annotations

import ctypes
from functools import cache

from millrace.kafka.java_properties import JAVA_PROPERTIES, Passed
from millrace.kafka.librdkafka import ERROR_TEXT_BYTES, load_library
from millrace.kafka.property_translation import CONNECTOR_PROPERTIES
from millrace.kafka.security.provider_login import PROVIDER
from millrace.options.suggestions import closest
from millrace_cli.converting.declared_options import declared

_UNKNOWN_PROPERTY = -2
"""``RD_KAFKA_CONF_UNKNOWN`` of librdkafka's rdkafka.h."""

_JAVA_NAMES = {
    own: java
    for java, handling in JAVA_PROPERTIES.items()
    if isinstance(handling, Passed)
    for own in handling.names
    if own != java
}


def unknown_property(name: str) -> str | None:
    """Return a sentence on a property that no client knows; None for one that is known.

    Args:
        name: The property, without ``properties.``.
    """
    if name in JAVA_PROPERTIES or name in CONNECTOR_PROPERTIES or name.startswith(PROVIDER):
        return None
    if declared(f"properties.{name}") is not None or _is_librdkafka_property(name):
        return None
    close = closest(name, JAVA_PROPERTIES, cutoff=0.8)
    hint = f"; did you mean {close!r}?" if close else ""
    return f"no Kafka client has a property {name!r}{hint}"


def java_name_problem(name: str) -> str | None:
    """Return a sentence on a property that Java's client does not have; None for one that it has.

    Args:
        name: The property, without ``properties.``.
    """
    if name in JAVA_PROPERTIES:
        return None
    if name in _JAVA_NAMES:
        return f"{name!r} is librdkafka's; Java's clients have {_JAVA_NAMES[name]!r}, whose values may differ"
    if name.startswith(PROVIDER):
        return "Java's clients get tokens by 'sasl.login.callback.handler.class', which names a class of the provider"
    return "Java's clients have no such property"


@cache
def _is_librdkafka_property(name: str) -> bool:
    library = load_library()
    if library is None:
        # Its functions cannot be called here; the client checks names when it is created
        return True
    configuration = library.rd_kafka_conf_new()
    problem = ctypes.create_string_buffer(ERROR_TEXT_BYTES)
    result = library.rd_kafka_conf_set(configuration, name.encode(), b"", problem, ERROR_TEXT_BYTES)
    library.rd_kafka_conf_destroy(configuration)
    return result != _UNKNOWN_PROPERTY
