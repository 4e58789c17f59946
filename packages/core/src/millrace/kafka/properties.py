"""Translate Kafka's Java client properties into librdkafka's.

Most names are the same in both. A name that differs is translated; one without a counterpart is refused with advice, so
that nothing is ignored silently. librdkafka's own names are passed on as they are; they are listed in its
CONFIGURATION.md, Java's on Kafka's page "Configuration".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from millrace.kafka.security.sasl import LOGIN_OPTIONS, MECHANISMS, PROTOCOLS, handler_properties, jaas_properties
from millrace.options.suggestions import closest

_STORE_TYPES = ("JKS", "PKCS12", "PEM")


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.strip().upper() in choices:
            return value.strip().upper()
        suggestion = closest(value, choices)
        hint = f" (did you mean {suggestion!r}?)" if suggestion else ""
        raise ValueError(f"expected one of {', '.join(choices)}{hint}; got {value!r}")

    return parse


def _system_default_as_0(size: str) -> str:
    return "0" if size.strip() == "-1" else size


def _kilobytes(size: str) -> str:
    try:
        return str(max(1, int(size) // 1024))
    except ValueError:
        raise ValueError(f"expected a whole number; got {size!r}") from None


def _kinit_command(command: str) -> str:
    """Return librdkafka's default command with the program that Java's property names; a whole command is kept."""
    if " " in command.strip() or not command.strip():
        return command
    arguments = '-t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}'
    return f"{command.strip()} -R {arguments} || {command.strip()} {arguments}"


_RENAMED: dict[str, tuple[str, Callable[[str], str]]] = {
    "buffer.memory": ("queue.buffering.max.kbytes", _kilobytes),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", str),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", _system_default_as_0),
    "send.buffer.bytes": ("socket.send.buffer.bytes", _system_default_as_0),
    "max.in.flight.requests.per.connection": ("max.in.flight", str),
    "max.request.size": ("message.max.bytes", str),
    "sasl.kerberos.kinit.cmd": ("sasl.kerberos.kinit.cmd", _kinit_command),
    "sasl.mechanism": ("sasl.mechanism", _one_of(*MECHANISMS)),
    "sasl.mechanisms": ("sasl.mechanism", _one_of(*MECHANISMS)),
    "security.protocol": ("security.protocol", _one_of(*PROTOCOLS)),
    "ssl.keystore.type": ("ssl.keystore.type", _one_of(*_STORE_TYPES)),
    "ssl.truststore.type": ("ssl.truststore.type", _one_of(*_STORE_TYPES)),
    "ssl.endpoint.identification.algorithm": (
        "ssl.endpoint.identification.algorithm",
        lambda algorithm: algorithm or "none",
    ),
}

_CONTROLLED_BY_MILLRACE = {
    "key.deserializer": "millrace reads bytes and decodes them by the format",
    "value.deserializer": "millrace reads bytes and decodes them by the format",
    "key.serializer": "millrace encodes by the format and writes bytes",
    "value.serializer": "millrace encodes by the format and writes bytes",
    "enable.auto.commit": "Spark's checkpoint keeps the offsets",
    "enable.auto.offset.store": "Spark's checkpoint keeps the offsets",
    "enable.partition.eof": "millrace relies on it",
    "max.poll.interval.ms": "millrace's consumers are in no group",
    "delivery.report.only.error": "millrace relies on it",
    "error_cb": "millrace reports what the client says",
    "logger": "the client's log is Python's logger 'millrace.kafka'",
    "on_delivery": "millrace checks every delivery",
    "partitioner": "use the option 'sink.partitioner'",
    "partitioner.class": "use the option 'sink.partitioner'",
    "max.poll.records": "use the option 'scan.max-records-per-batch'",
    "transactional.id": "use the options 'sink.delivery-guarantee' and 'sink.transactional-id-prefix'",
}

_JAVA_ONLY = {
    "interceptor.classes": "Java classes cannot be used",
    "metric.reporters": "Java classes cannot be used",
    "partition.assignment.strategy": "partitions are assigned to Spark tasks",
    "client.dns.lookup": "librdkafka always uses all addresses of a name",
    "max.block.ms": "use properties.delivery.timeout.ms",
    "default.api.timeout.ms": "use properties.socket.timeout.ms",
    "exclude.internal.topics": "internal topics are read when option 'topic' names them",
    "partitioner.ignore.keys": "use the option 'sink.partitioner'",
    "metrics.num.samples": "use properties.statistics.interval.ms",
    "sasl.client.callback.handler.class": "Java classes cannot be used",
    "sasl.kerberos.ticket.renew.jitter": "use properties.sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.ticket.renew.window.factor": "use properties.sasl.kerberos.min.time.before.relogin",
    "security.providers": "Java classes cannot be used",
    "ssl.engine.factory.class": "Java classes cannot be used",
    "ssl.keymanager.algorithm": "OpenSSL has no such choice",
    "ssl.provider": "Java classes cannot be used",
    "ssl.secure.random.implementation": "OpenSSL has no such choice",
    "ssl.trustmanager.algorithm": "OpenSSL has no such choice",
    "ssl.protocol": "OpenSSL chooses the newest version that both sides know",
    "ssl.enabled.protocols": "OpenSSL chooses the newest version that both sides know",
}


_LOGIN_TRANSLATIONS = (
    ("sasl.login.callback.handler.class", handler_properties),
    ("sasl.jaas.config", jaas_properties),
)
_EXCLUSIVE = (
    ("ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem"),
    ("ssl.keystore.location", "ssl.keystore.key", "ssl.key.location", "ssl.key.pem"),
    ("ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.certificate.location", "ssl.certificate.pem"),
)


def translate(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Translate the user's ``properties.*`` into librdkafka's properties.

    Java's properties of stores are kept: `client_settings` reads the stores in the process that creates a client.

    Args:
        java: Property values by name, without ``properties.``.

    Returns:
        librdkafka's properties, and the problems found.
    """
    client: dict[str, str] = {}
    given_as: dict[str, str] = {}
    problems: list[str] = []
    for name, translated, value in _translated(java, problems):
        other = given_as.setdefault(translated, name)
        if client.setdefault(translated, value) != value:
            problems.append(f"'properties.{other}' and 'properties.{name}' mean the same but differ; give one of them")
    problems.extend(_contradictions(java))
    if not java.get("bootstrap.servers", "").strip():
        problems.append("option 'properties.bootstrap.servers' is required, such as 'localhost:9092'")
    return client, problems


def _translated(java: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield names as given, librdkafka's names, and values; append to the problems."""
    for name, value in java.items():
        refusal = _CONTROLLED_BY_MILLRACE.get(name) or _JAVA_ONLY.get(name)
        if refusal:
            problems.append(f"option 'properties.{name}' cannot be set: {refusal}")
        elif name not in LOGIN_OPTIONS:
            translated, convert = _RENAMED.get(name, (name, str))
            try:
                yield name, translated, convert(value)
            except ValueError as error:
                problems.append(f"option 'properties.{name}': {error}")
    for given_as, translate_login in _LOGIN_TRANSLATIONS:
        try:
            yield from ((given_as, name, value) for name, value in translate_login(java).items())
        except ValueError as error:
            problems.append(str(error))


def _contradictions(java: Mapping[str, str]) -> Iterator[str]:
    for names in _EXCLUSIVE:
        given = [f"'properties.{name}'" for name in names if name in java]
        if len(given) > 1:
            yield f"{' and '.join(given)} exclude each other: give one of them"
    if len(java.keys() & {"ssl.keystore.key", "ssl.keystore.certificate.chain"}) == 1:
        yield "'properties.ssl.keystore.key' and 'properties.ssl.keystore.certificate.chain' belong together: give both"
