"""Kafka client properties: from Kafka's Java names to librdkafka's.

Most names are the same in both. What is spelled otherwise is translated; what has no counterpart is refused with what
to write instead, so that nothing is ignored silently. librdkafka's own names are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_SPELLED_OTHERWISE: dict[str, tuple[str, Callable[[str], str]]] = {
    "buffer.memory": ("queue.buffering.max.kbytes", lambda size: str(max(1, int(size) // 1024))),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", str),
    "receive.buffer.bytes": ("socket.receive.buffer.bytes", str),
    "send.buffer.bytes": ("socket.send.buffer.bytes", str),
    "max.in.flight.requests.per.connection": ("max.in.flight", str),
}

_SET_BY_MILLRACE = {
    "key.deserializer": "millrace reads bytes and decodes them by the format",
    "value.deserializer": "millrace reads bytes and decodes them by the format",
    "key.serializer": "millrace encodes by the format and writes bytes",
    "value.serializer": "millrace encodes by the format and writes bytes",
    "enable.auto.commit": "Spark's checkpoint keeps the offsets",
    "enable.partition.eof": "millrace relies on it",
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
}


def translate(java: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The librdkafka properties for what the user gave under ``properties.``, and what is wrong with it.

    Args:
        java: Property values by name, without ``properties.``.
    """
    client: dict[str, str] = {}
    problems: list[str] = []
    for name, value in java.items():
        refusal = _SET_BY_MILLRACE.get(name) or _JAVA_ONLY.get(name)
        if refusal:
            problems.append(f"option 'properties.{name}' cannot be set: {refusal}")
            continue
        try:
            spelled, convert = _SPELLED_OTHERWISE.get(name, (name, str))
            client[spelled] = convert(value)
        except ValueError:
            problems.append(f"option 'properties.{name}': expected a whole number; got {value!r}")
    if not java.get("bootstrap.servers", "").strip():
        problems.append("option 'properties.bootstrap.servers' is required, such as 'localhost:9092'")
    return client, problems
