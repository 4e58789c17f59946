"""Producing: from records to Kafka."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaException

from millrace.errors import DeliveryError
from millrace.kafka.cluster import REQUEST_TIMEOUT_S
from millrace.kafka.errors import client_errors
from millrace.kafka.producer import WatchedProducer
from millrace.sink.records import Records

PARTITIONS_HOLD_S = 60.0
"""How long a topic's partition count is used before it is looked up again."""


class Output:
    """Writes the records of one task through its worker's producer.

    Args:
        producer: The worker's producer.
    """

    def __init__(self, producer: WatchedProducer) -> None:
        self._producer = producer
        self._client = producer.client
        self._counts: dict[str, tuple[int, float]] = {}
        self.records = 0
        producer.take_failures()

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has."""
        count, looked_at = self._counts.get(topic, (0, 0.0))
        if not count or time.monotonic() - looked_at > PARTITIONS_HOLD_S:
            with client_errors(f"looking up topic {topic!r}"):
                found = self._client.list_topics(topic, REQUEST_TIMEOUT_S).topics[topic]
                if found.error is not None:
                    raise KafkaException(found.error)
            count = len(found.partitions)
            self._counts[topic] = count, time.monotonic()
        return count

    def send(self, records: Records, partitions: pa.Int32Array | None) -> None:
        """Hand records to the producer; waits while its queue is full."""
        if records.headers is None:
            self._send_batch(records, partitions)
        else:
            self._send_each(records, partitions)
        self.records += len(records)
        self._client.poll(0)
        self._check()
