"""Makes, fills, counts and deletes the topics of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from bench.data import json_record

if TYPE_CHECKING:
    from millrace.embedded import KafkaBroker

_TIMEOUT_S = 30
_RECORDS_BEFORE_POLL = 10_000


class Topics:
    """The topics of one broker.

    Args:
        broker: It is running.
        records: How many records a filled topic holds.
    """

    def __init__(self, broker: KafkaBroker, records: int) -> None:
        self._broker = broker
        self._records = records
        self._filled: dict[int, str] = {}
        self._made = 0
        # Without its log: it would report that the broker goes, at the end
        self._client = {"bootstrap.servers": broker.bootstrap_servers, "log_level": 0}
        self._admin = AdminClient(self._client)

    def filled(self, partitions: int) -> str:
        """A topic of JSON records, evenly spread over its partitions; made when it is first asked for."""
        if partitions not in self._filled:
            name = f"records-{partitions}"
            self._broker.create_topic(name, partitions)
            started = time.monotonic()
            self._fill(name, partitions)
            print(f"  {self._records:,} records in topic {name} after {time.monotonic() - started:.1f} s", flush=True)
            self._filled[partitions] = name
        return self._filled[partitions]

    @contextmanager
    def empty(self, partitions: int) -> Iterator[str]:
        """A new topic, deleted afterwards."""
        self._made += 1
        name = f"written-{self._made}"
        self._broker.create_topic(name, partitions)
        try:
            yield name
        finally:
            for deleted in self._admin.delete_topics([name]).values():
                deleted.result(_TIMEOUT_S)

    def count(self, topic: str) -> int:
        """How many records a topic holds, by its offsets."""
        consumer = Consumer({**self._client, "group.id": "bench"})
        try:
            partitions = consumer.list_topics(topic, _TIMEOUT_S).topics[topic].partitions
            bounds = [consumer.get_watermark_offsets(TopicPartition(topic, p), _TIMEOUT_S) for p in partitions]
        finally:
            consumer.close()
        return sum(high - low for low, high in bounds)

    def _fill(self, topic: str, partitions: int) -> None:
        producer = Producer({**self._client, "linger.ms": 20, "batch.size": 500_000})
        for index in range(self._records):
            while True:
                try:
                    producer.produce(topic, json_record(index), partition=index % partitions)
                    break
                except BufferError:
                    producer.poll(0.05)
            if index % _RECORDS_BEFORE_POLL == 0:
                producer.poll(0)
        producer.flush()
        found = self.count(topic)
        if found != self._records:
            raise RuntimeError(f"topic {topic} holds {found} records instead of {self._records}")
