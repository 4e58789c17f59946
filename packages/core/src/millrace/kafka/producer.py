"""The producer that a worker process keeps from task to task."""

from __future__ import annotations

import functools
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from millrace.kafka.errors import configuration_errors
from millrace.kafka.watch import Watch
from millrace.options.secrets import Properties

_DEFAULTS: dict[str, Any] = {
    # Java's partitioner for records with a key; librdkafka's own default is another one
    "partitioner": "murmur2_random",
    "linger.ms": "5",
    "batch.size": "1000000",
    "batch.num.messages": "10000",
    "queue.buffering.max.messages": "100000",
    "queue.buffering.max.kbytes": "65536",
    "compression.type": "lz4",
    "socket.nagle.disable": "true",
    # A report of each delivery would cost more than sending the record; failures are what must be known
    "delivery.report.only.error": True,
}

_IDEMPOTENT = {"enable.idempotence": "true"}


class WatchedProducer:
    """A producer that remembers the first delivery that failed and how many did.

    Args:
        settings: Properties for the client.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.watch = Watch()
        self._failed = 0
        self._first: tuple[str, KafkaError] | None = None
        with configuration_errors():
            self.client = Producer({**settings, **self.watch.settings(), "on_delivery": self._on_delivery})

    def take_failures(self) -> tuple[int, str]:
        """How many deliveries failed since the last call, and the first of them in words."""
        failed, first = self._failed, self._first
        self._failed, self._first = 0, None
        return failed, f"{first[0]}: {first[1].str()}" if first else ""

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            return
        self._failed += 1
        if self._first is None:
            self._first = f"{message.topic()}-{message.partition()}", error


@functools.lru_cache(maxsize=4)
def producer_for(client: Properties, *, idempotent: bool) -> WatchedProducer:
    """This process's producer for a client configuration; made once, used by one task after the other.

    Args:
        client: Properties for the Kafka client; they win over millrace's defaults.
        idempotent: Whether retries must neither repeat nor reorder records, unless ``client`` says otherwise.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return WatchedProducer({**_DEFAULTS, **(_IDEMPOTENT if idempotent else {}), **client})
