"""Translate Kafka's Java client properties into librdkafka's.

`JAVA_PROPERTIES` says how each of Java's is handled; nothing is ignored silently. librdkafka's own names are passed on
as they are; they are listed in its CONFIGURATION.md, Java's on Kafka's page "Configuration".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from millrace.kafka.java_properties import JAVA_PROPERTIES, STORE, Handling, Ignored, JavaClass, Passed
from millrace.kafka.java_values import clamped, whole_number
from millrace.kafka.security.sasl import handler_properties, jaas_properties, ticket_cache_properties

_CONTROLLED_BY_MILLRACE = {
    "enable.auto.offset.store": "Spark's checkpoint keeps the offsets",
    "enable.partition.eof": "millrace relies on it",
    "delivery.report.only.error": "millrace relies on it",
    "error_cb": "millrace reports what the client says",
    "logger": "the client's log is Python's logger 'millrace.kafka'",
    "on_delivery": "millrace checks every delivery",
    "partitioner": "use the option 'sink.partitioner'",
}
"""librdkafka's own properties that cannot be set."""

_ALIASES = {"sasl.mechanisms": "sasl.mechanism"}
"""librdkafka's names with the handling of one of Java's."""

CONNECTOR_PROPERTIES: dict[str, Handling] = {
    "auto.offset.reset.strategy": Ignored(
        "'scan.startup.mode' and 'properties.auto.offset.reset' decide where reading starts"
    ),
    "connector.auth.open": Ignored(
        "'properties.security.protocol' and 'properties.sasl.mechanism' decide on a login", frozenset({"true"})
    ),
    "connector.kerberos.principal": Passed(("sasl.kerberos.principal",)),
    "connector.kerberos.keytab": Passed(("sasl.kerberos.keytab",)),
    "connector.kerberos.krb5": Ignored(
        "Kerberos reads its settings from /etc/krb5.conf, or from the file that the environment variable KRB5_CONFIG "
        "names, for the driver and all executors"
    ),
}
"""Properties that Flink's connectors know beside Kafka's: one that they override, and Huawei's of Kerberos."""

_CODECS_WITH_LEVELS = ("gzip", "lz4", "zstd")
_COMPRESSION_LEVEL = clamped(-1, 12)
_LEVELS = {f"compression.{codec}.level": codec for codec in _CODECS_WITH_LEVELS}

_MAX_RECONNECT_BACKOFF_MS = 10_000
_SOCKET_TIMEOUT, _REQUEST_TIMEOUT = clamped(10, 300_000), clamped(1, 900_000)

_EXCLUSIVE = (
    ("ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem"),
    ("ssl.keystore.location", "ssl.keystore.key", "ssl.key.location", "ssl.key.pem"),
    ("ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.certificate.location", "ssl.certificate.pem"),
)


class Translation(NamedTuple):
    """The Kafka client's properties.

    Attributes:
        client: Values by librdkafka's names.
        problems: One sentence for each property that is wrong or cannot be set.
        warnings: One sentence for each property that has no effect, or another than it asks for.
    """

    client: dict[str, str]
    problems: list[str]
    warnings: list[str]


def translate(java: Mapping[str, str]) -> Translation:
    """Translate the user's ``properties.*`` into librdkafka's properties.

    Java's properties of stores are kept: `client_settings` reads the stores in the process that creates a client.

    Args:
        java: Property values by name, without ``properties.``.
    """
    client: dict[str, str] = {}
    given_as: dict[str, str] = {}
    problems: list[str] = []
    warnings: list[str] = []
    for name, translated, value in _translated(java, problems, warnings):
        other = given_as.setdefault(translated, name)
        if client.setdefault(translated, value) != value:
            problems.append(f"'properties.{other}' and 'properties.{name}' mean the same but differ; give one of them")
    client.update(ticket_cache_properties(java, client))
    problems.extend(_contradictions(java))
    if not java.get("bootstrap.servers", "").strip():
        problems.append("option 'properties.bootstrap.servers' is required, such as 'localhost:9092'")
    return Translation(client, problems, warnings)


def problem_with(name: str, value: str) -> str | None:
    """Return why a property by itself is refused or has no effect; None if it is used.

    Args:
        name: The property, without ``properties.``.
        value: Its value.
    """
    if name in _CONTROLLED_BY_MILLRACE:
        return f"option 'properties.{name}' cannot be set: {_CONTROLLED_BY_MILLRACE[name]}"
    handling = JAVA_PROPERTIES.get(name) or CONNECTOR_PROPERTIES.get(name, Passed())
    sentences = (*_class_problems(name, value, handling), *_ignored_warnings(name, value, handling))
    return next(iter(sentences), None)


def _translated(java: Mapping[str, str], problems: list[str], warnings: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield names as given, librdkafka's names, and values; append to the problems and warnings."""
    for name, value in java.items():
        handling = JAVA_PROPERTIES.get(_ALIASES.get(name, name)) or CONNECTOR_PROPERTIES.get(name, Passed())
        if name in _CONTROLLED_BY_MILLRACE:
            problems.append(f"option 'properties.{name}' cannot be set: {_CONTROLLED_BY_MILLRACE[name]}")
        elif isinstance(handling, Passed):
            try:
                converted = handling.convert(value)
            except ValueError as error:
                problems.append(f"option 'properties.{name}': {error}")
                continue
            warnings.extend(_value_warnings(name, value, converted, handling))
            if converted or not value.strip():
                yield from ((name, own, converted) for own in handling.names or (name,))
        else:
            problems.extend(_class_problems(name, value, handling))
            warnings.extend(_ignored_warnings(name, value, handling))
    for given_as, translate_some in _BY_OTHER_MEANS:
        try:
            yield from ((given_as, name, value) for name, value in translate_some(java).items())
        except ValueError as error:
            problems.append(str(error))
    warnings.extend(_compression_warnings(java))


def _value_warnings(name: str, value: str, converted: str, handling: Passed) -> Iterator[str]:
    if value.strip() and not converted:
        yield _without_effect(name, "all cipher suites of TLS 1.3 are enabled")
    elif _is_moved(value, converted, handling):
        yield f"option 'properties.{name}' = {value!r} is beyond what the Kafka client knows: {converted} is used"


def _is_moved(value: str, converted: str, handling: Passed) -> bool:
    # Java's 0 and -1 have librdkafka's 1 and 0 as counterparts, and kilobytes are rounded
    text = value.strip()
    return handling.is_bounded and text.isdigit() and int(text) > 0 and converted != str(int(text))


def _ignored_warnings(name: str, value: str, handling: Handling) -> Iterator[str]:
    if isinstance(handling, Ignored) and value.strip().lower() not in handling.fitting:
        yield _without_effect(name, handling.reason)


def _class_problems(name: str, value: str, handling: Handling) -> Iterator[str]:
    if not isinstance(handling, JavaClass):
        return
    classes = [class_name.strip().rpartition(".")[2].lower() for class_name in value.split(",") if class_name.strip()]
    if not handling.known.issuperset(classes):
        what = "" if name == "config.providers" else "Java classes cannot be used; "
        yield f"option 'properties.{name}' cannot be set: {what}{handling.reason}"


def _without_effect(name: str, reason: str) -> str:
    return f"option 'properties.{name}' has no effect in millrace: {reason}"


def _compression_properties(java: Mapping[str, str]) -> dict[str, str]:
    name = f"compression.{_codec(java)}.level"
    if name not in java:
        return {}
    try:
        return {"compression.level": _COMPRESSION_LEVEL(java[name])}
    except ValueError as error:
        raise ValueError(f"option 'properties.{name}': {error}") from None


def _compression_warnings(java: Mapping[str, str]) -> Iterator[str]:
    codec = _codec(java)
    for name in java.keys() & _LEVELS.keys():
        if _LEVELS[name] != codec:
            yield _without_effect(name, f"'properties.compression.type' is {codec!r}")
        elif java[name].strip().isdigit() and int(java[name]) > 12:
            yield f"option 'properties.{name}' = {java[name]!r} is beyond what the Kafka client knows: 12 is used"


def _codec(java: Mapping[str, str]) -> str:
    return java.get("compression.type", java.get("compression.codec", "lz4")).strip().lower()


def _timeout_properties(java: Mapping[str, str]) -> dict[str, str]:
    """Return the timeouts for Java's of requests, and the backoff that Java derives from another one."""
    properties = {}
    if "request.timeout.ms" in java:
        try:
            properties["request.timeout.ms"] = _REQUEST_TIMEOUT(java["request.timeout.ms"])
            if "socket.timeout.ms" not in java:
                properties["socket.timeout.ms"] = _SOCKET_TIMEOUT(_at_most_a_transaction(java))
        except ValueError as error:
            raise ValueError(f"option 'properties.request.timeout.ms': {error}") from None
    backoff = java.get("reconnect.backoff.ms", "")
    if "reconnect.backoff.max.ms" not in java and backoff.isdigit() and int(backoff) > _MAX_RECONNECT_BACKOFF_MS:
        properties["reconnect.backoff.max.ms"] = clamped(0, 3_600_000)(backoff)
    return properties


def _at_most_a_transaction(java: Mapping[str, str]) -> str:
    # librdkafka refuses a request that may take longer than a transaction
    timeout, transaction = whole_number(java["request.timeout.ms"]), java.get("transaction.timeout.ms", "")
    return str(min(timeout, int(transaction)) if transaction.isdigit() else timeout)


def _store_properties(java: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in java.items() if JAVA_PROPERTIES.get(name) is STORE}


def _contradictions(java: Mapping[str, str]) -> Iterator[str]:
    for names in _EXCLUSIVE:
        present = [f"'properties.{name}'" for name in names if name in java]
        if len(present) > 1:
            yield f"{' and '.join(present)} exclude each other: give one of them"
    if len(java.keys() & {"ssl.keystore.key", "ssl.keystore.certificate.chain"}) == 1:
        yield "'properties.ssl.keystore.key' and 'properties.ssl.keystore.certificate.chain' belong together: give both"


_BY_OTHER_MEANS: tuple[tuple[str, Callable[[Mapping[str, str]], dict[str, str]]], ...] = (
    ("sasl.login.callback.handler.class", handler_properties),
    ("sasl.jaas.config", jaas_properties),
    ("ssl.truststore.location", _store_properties),
    ("compression.type", _compression_properties),
    ("request.timeout.ms", _timeout_properties),
)
