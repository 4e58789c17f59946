"""The options that Kafka's source and sink share."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options import option
from millrace_cdc.connectors.kafka.values import parse_servers


@dataclass(frozen=True, kw_only=True)
class KafkaOptions:
    """The options that source and sink share."""

    bootstrap_servers: str = option(
        "properties.bootstrap.servers", parse=parse_servers, doc="The brokers to ask first, as host:port,host:port."
    )
    properties: tuple[tuple[str, str], ...] = option(
        "properties.*",
        default=(),
        is_hidden=True,
        doc="Any property of the Kafka client, Java's or librdkafka's, such as properties.security.protocol.",
    )
