"""Kafka client properties: from Kafka's Java names to librdkafka's.

Most names are the same in both. What is spelled otherwise is translated; what has no counterpart is refused with what
to write instead, so that nothing is ignored silently. librdkafka's own names are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _system_default_as_0(size: str) -> str:
    return "0" if size.strip() == "-1" else size


_SPELLED_OTHERWISE: dict[str, tuple[str, Callable[[str], str]]] = {
    "buffer.memory": ("queue.buffering.max.kbytes", lambda size: str(max(1, int(size) // 1024))),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", str),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", _system_default_as_0),
    "send.buffer.bytes": ("socket.send.buffer.bytes", _system_default_as_0),
    "max.in.flight.requests.per.connection": ("max.in.flight", str),
    "max.request.size": ("message.max.bytes", str),
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
    "sasl.jaas.config": "use properties.sasl.username and properties.sasl.password",
    "ssl.truststore.location": "use properties.ssl.ca.location with a PEM file",
    "ssl.truststore.password": "a PEM file under properties.ssl.ca.location needs no password",
    "ssl.truststore.type": "use properties.ssl.ca.location with a PEM file",
    "ssl.keystore.type": "use properties.ssl.keystore.location with a PKCS#12 file",
    "interceptor.classes": "Java classes cannot be used",
    "metric.reporters": "Java classes cannot be used",
    "partition.assignment.strategy": "partitions are assigned to Spark tasks",
    "client.dns.lookup": "librdkafka always uses all addresses of a name",
    "max.block.ms": "use properties.delivery.timeout.ms",
    "default.api.timeout.ms": "use properties.socket.timeout.ms",
    "exclude.internal.topics": "internal topics are read when option 'topic' names them",
    "partitioner.ignore.keys": "use the option 'sink.partitioner'",
    "metrics.num.samples": "use properties.statistics.interval.ms",
    "sasl.login.callback.handler.class": "Java classes cannot be used",
    "sasl.client.callback.handler.class": "Java classes cannot be used",
    "ssl.protocol": "OpenSSL chooses the newest version that both sides know",
    "ssl.enabled.protocols": "OpenSSL chooses the newest version that both sides know",
    "ssl.truststore.certificates": "use properties.ssl.ca.pem",
    "ssl.keystore.certificate.chain": "use properties.ssl.certificate.pem",
    "ssl.keystore.key": "use properties.ssl.key.pem",
}


def translate(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The librdkafka properties for what the user gave under ``properties.``, and what is wrong with it.

    Args:
        java: Property values by name, without ``properties.``.
    """
    client: dict[str, str] = {}
    given_as: dict[str, str] = {}
    problems: list[str] = []
    for name, value in java.items():
        refusal = _SET_BY_MILLRACE.get(name) or _JAVA_ONLY.get(name)
        if refusal:
            problems.append(f"option 'properties.{name}' cannot be set: {refusal}")
            continue
        try:
            spelled, convert = _SPELLED_OTHERWISE.get(name, (name, str))
            converted = convert(value)
        except ValueError:
            problems.append(f"option 'properties.{name}': expected a whole number; got {value!r}")
            continue
        other = given_as.setdefault(spelled, name)
        if client.setdefault(spelled, converted) != converted:
            problems.append(f"'properties.{other}' and 'properties.{name}' mean the same but differ; give one of them")
    if not java.get("bootstrap.servers", "").strip():
        problems.append("option 'properties.bootstrap.servers' is required, such as 'localhost:9092'")
    return client, problems
