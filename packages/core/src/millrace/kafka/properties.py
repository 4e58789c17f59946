"""Kafka client properties: from Kafka's Java names to librdkafka's.

Most names are the same in both. What is spelled otherwise is translated; what has no counterpart is refused with what
to write instead, so that nothing is ignored silently. librdkafka's own names are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from millrace.kafka.security.sasl import LOGIN_OPTIONS, MECHANISMS, PROTOCOLS, handler_properties, jaas_properties
from millrace.options.suggestions import closest

_STORE_TYPES = ("JKS", "PKCS12", "PEM")


def _one_of(*known: str) -> Callable[[str], str]:
    def spelled(value: str) -> str:
        if value.strip().upper() in known:
            return value.strip().upper()
        meant = closest(value, known)
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise ValueError(f"expected one of {', '.join(known)}{hint}; got {value!r}")

    return spelled


def _system_default_as_0(size: str) -> str:
    return "0" if size.strip() == "-1" else size


def _kilobytes(size: str) -> str:
    try:
        return str(max(1, int(size) // 1024))
    except ValueError:
        raise ValueError(f"expected a whole number; got {size!r}") from None


def _kinit_command(command: str) -> str:
    """Java names the program; librdkafka wants the whole command, here its own default with that program."""
    if " " in command.strip() or not command.strip():
        return command
    arguments = '-t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}'
    return f"{command.strip()} -R {arguments} || {command.strip()} {arguments}"


_SPELLED_OTHERWISE: dict[str, tuple[str, Callable[[str], str]]] = {
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

_SET_BY_MILLRACE = {
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
    "transactional.id": "exactly-once writing is not supported yet",
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


_LOGINS = (
    ("sasl.login.callback.handler.class", handler_properties),
    ("sasl.jaas.config", jaas_properties),
)
_ONE_OF = (
    ("ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem"),
    ("ssl.keystore.location", "ssl.keystore.key", "ssl.key.location", "ssl.key.pem"),
    ("ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.certificate.location", "ssl.certificate.pem"),
)


def translate(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The librdkafka properties for what the user gave under ``properties.``, and what is wrong with it.

    Java's properties of stores stay as they are: `client_settings` reads the stores where a client is made.

    Args:
        java: Property values by name, without ``properties.``.
    """
    client: dict[str, str] = {}
    given_as: dict[str, str] = {}
    problems: list[str] = []
    for name, spelled, value in _translated(java, problems):
        other = given_as.setdefault(spelled, name)
        if client.setdefault(spelled, value) != value:
            problems.append(f"'properties.{other}' and 'properties.{name}' mean the same but differ; give one of them")
    problems.extend(_contradictions(java))
    if not java.get("bootstrap.servers", "").strip():
        problems.append("option 'properties.bootstrap.servers' is required, such as 'localhost:9092'")
    return client, problems


def _translated(java: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str, str]]:
    """Names as given, names as librdkafka has them, and values; what is wrong is added to the problems."""
    for name, value in java.items():
        refusal = _SET_BY_MILLRACE.get(name) or _JAVA_ONLY.get(name)
        if refusal:
            problems.append(f"option 'properties.{name}' cannot be set: {refusal}")
        elif name not in LOGIN_OPTIONS:
            spelled, convert = _SPELLED_OTHERWISE.get(name, (name, str))
            try:
                yield name, spelled, convert(value)
            except ValueError as error:
                problems.append(f"option 'properties.{name}': {error}")
    for given_as, login in _LOGINS:
        try:
            yield from ((given_as, name, value) for name, value in login(java).items())
        except ValueError as error:
            problems.append(str(error))


def _contradictions(java: Mapping[str, str]) -> Iterator[str]:
    for names in _ONE_OF:
        given = [f"'properties.{name}'" for name in names if name in java]
        if len(given) > 1:
            yield f"{' and '.join(given)} exclude each other: give one of them"
    if len(java.keys() & {"ssl.keystore.key", "ssl.keystore.certificate.chain"}) == 1:
        yield "'properties.ssl.keystore.key' and 'properties.ssl.keystore.certificate.chain' belong together: give both"
