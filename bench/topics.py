"""The topics of a run: made, filled, counted and deleted."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from bench.data import json_record

if TYPE_CHECKING:
    from millrace_broker import KafkaBroker

_TIMEOUT_S = 30
_RECORDS_BEFORE_POLL = 10_000
_LARGE_RECORD = 10_000
_AT_ONCE = 10_000


class Topics:
    """The topics of one broker.

    Args:
        broker: It is running.
        records: How many records a filled topic holds.
    """

    def __init__(self, broker: KafkaBroker, records: int) -> None:
        self._broker = broker
        self._records = records
        self._filled: dict[tuple[int, str], str] = {}
        self._made = 0
        # Without its log: it would report that the broker goes, at the end
        self._client = {"bootstrap.servers": broker.bootstrap_servers, "log_level": 0}
        self._admin = AdminClient(self._client)

    def filled(self, partitions: int, codec: str = "none") -> str:
        """Return a topic of JSON records, evenly spread over its partitions; it is made at the first call."""
        if (partitions, codec) not in self._filled:
            name = f"records-{partitions}-{codec}"
            self._broker.create_topic(name, partitions)
            started = time.monotonic()
            self._fill(name, partitions, map(json_record, range(self._records)), codec)
            count = self.count(name)
            if count != self._records:
                raise RuntimeError(f"topic {name} holds {count} records instead of {self._records}")
            print(f"  {count:,} records in topic {name} after {time.monotonic() - started:.1f} s", flush=True)
            self._filled[partitions, codec] = name
        return self._filled[partitions, codec]

    @property
    def servers(self) -> str:
        """The broker's own address, however far away it is measured."""
        return self._broker.bootstrap_servers

    @contextmanager
    def of(self, name: str, partitions: int, messages: Callable[[int, int], list[bytes]]) -> Iterator[str]:
        """Make a topic of messages, evenly spread over its partitions; it is deleted afterwards.

        Args:
            name: What they are, for the topic's name.
            partitions: How many partitions it has.
            messages: Gives those from one number up to another.
        """
        self._made += 1
        topic = f"{name}-{self._made}"
        self._broker.create_topic(topic, partitions)
        bounds = [*range(0, self._records, _AT_ONCE), self._records]
        parts = (messages(start, stop) for start, stop in itertools.pairwise(bounds))
        self._fill(topic, partitions, itertools.chain.from_iterable(parts), "none")
        try:
            yield topic
        finally:
            self._delete(topic)

    @contextmanager
    def large(self, size: int) -> Iterator[str]:
        """Make a topic of one partition with some number of bytes, in few records; it is deleted afterwards."""
        record = os.urandom(_LARGE_RECORD)
        with self.empty(1) as name:
            self._fill(name, 1, itertools.repeat(record, size // _LARGE_RECORD), "none")
            yield name

    @contextmanager
    def empty(self, partitions: int) -> Iterator[str]:
        """Make an empty topic; it is deleted afterwards."""
        self._made += 1
        name = f"written-{self._made}"
        self._broker.create_topic(name, partitions)
        try:
            yield name
        finally:
            self._delete(name)

    def fill_keyed(self, topic: str, partitions: int, messages: Iterable[tuple[bytes, bytes]]) -> None:
        """Write keys and values, evenly spread over the partitions of a topic; a key at one place stays in one."""
        self._fill(topic, partitions, messages, "none")

    @contextmanager
    def reading(self, topic: str, partitions: int) -> Iterator[Consumer]:
        """Read a topic from its beginning as records come, near its broker."""
        consumer = Consumer({**self._client, "group.id": "bench", "fetch.wait.max.ms": 5})
        try:
            consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
            yield consumer
        finally:
            consumer.close()

    def ends(self, topic: str) -> list[int]:
        """Return the end of the log of each partition of a topic."""
        return [high for _, high in self._bounds(topic)]

    def count(self, topic: str) -> int:
        """Count the records of a topic by its offsets."""
        return sum(high - low for low, high in self._bounds(topic))

    def _bounds(self, topic: str) -> list[tuple[int, int]]:
        consumer = Consumer({**self._client, "group.id": "bench"})
        try:
            partitions = consumer.list_topics(topic, _TIMEOUT_S).topics[topic].partitions
            return [consumer.get_watermark_offsets(TopicPartition(topic, p), _TIMEOUT_S) for p in partitions]
        finally:
            consumer.close()

    def _delete(self, topic: str) -> None:
        for deleted in self._admin.delete_topics([topic]).values():
            deleted.result(_TIMEOUT_S)

    def _fill(self, topic: str, partitions: int, records: Iterable[bytes | tuple[bytes, bytes]], codec: str) -> None:
        producer = Producer({**self._client, "linger.ms": 20, "batch.size": 500_000, "compression.type": codec})
        for index, record in enumerate(records):
            key, value = record if isinstance(record, tuple) else (None, record)
            while True:
                try:
                    producer.produce(topic, value, key, partition=index % partitions)
                    break
                except BufferError:
                    producer.poll(0.05)
            if index % _RECORDS_BEFORE_POLL == 0:
                producer.poll(0)
        producer.flush()
