"""Logs of all shapes on a real broker: with gaps by transactions and compaction, cut off at their heads, or empty."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from hypothesis import strategies as st

from support.admin import delete_topics
from support.compaction import clean_often
from support.kafka import consume, transactional_producer
from support.retrying import flush, retried, retried_all
from support.waiting import wait_until

PARTITIONS = 3

_COMPACTED = {
    "cleanup.policy": "compact,delete",
    "min.cleanable.dirty.ratio": "0.0",
    # What a step writes begins a segment, by its timestamps, and all segments but the last one are compacted
    "segment.ms": "1",
}


@dataclass(frozen=True)
class Produce:
    """Records of a few hundred bytes at most, each with a key of its own."""

    partition: int
    records: int


@dataclass(frozen=True)
class Transaction:
    """Records of a transaction around others that are in none; it leaves its markers in the log."""

    partition: int
    records: int
    others: int
    commits: bool


@dataclass(frozen=True)
class Repeat:
    """Records of few keys; on a compacted topic the last one of each key stays."""

    partition: int
    records: int
    keys: int


@dataclass(frozen=True)
class Truncate:
    """The deletion of the head of a log, in percent of its offsets."""

    partition: int
    percent: int


Step = Produce | Transaction | Repeat | Truncate


@dataclass(frozen=True)
class Layout:
    """The steps by which a topic's log is written.

    Attributes:
        steps: What happens before a stream begins.
        later: What happens after its first micro-batch.
        compacted: Whether the topic is compacted.
        left_open: Whether a transaction is still open while it reads, in partition 0.
    """

    steps: Sequence[Step]
    later: Sequence[Step] = ()
    compacted: bool = False
    left_open: bool = False


_partitions = st.integers(0, PARTITIONS - 1)
_counts = st.integers(1, 40)
_appending = [
    st.builds(Produce, _partitions, _counts),
    st.builds(Transaction, _partitions, _counts, st.integers(0, 10), st.booleans()),
    st.builds(Repeat, _partitions, st.integers(2, 40), st.integers(1, 5)),
]
_truncations = st.builds(Truncate, _partitions, st.integers(1, 100))

layouts = st.builds(
    Layout,
    steps=st.lists(st.one_of(*_appending, _truncations), max_size=7),
    later=st.lists(st.one_of(*_appending), max_size=3),
    compacted=st.booleans(),
    left_open=st.booleans(),
)


class Logs:
    """Lays out topics on a broker; its clients are made once, since making them is slow.

    Args:
        servers: The broker.
    """

    def __init__(self, servers: str) -> None:
        self._servers = servers
        common = {"bootstrap.servers": servers, "linger.ms": "0", "log_level": 0}
        self._admin = AdminClient(common)
        self._consumer = Consumer({"bootstrap.servers": servers, "group.id": "layouts", "log_level": 0})
        self._plain = Producer(common)
        self._transactional = transactional_producer(servers, "layouts", **{"linger.ms": "0"})
        self._numbers = itertools.count()
        self._timestamp = 0
        clean_often(servers)

    def topic(self, *, compacted: bool) -> str:
        """Create a topic."""
        name = f"layout-{next(self._numbers)}"
        config = _COMPACTED if compacted else {}
        retried_all(lambda: self._admin.create_topics([NewTopic(name, PARTITIONS, 1, config=config)]))
        for partition in range(PARTITIONS):
            self._bounds(name, partition)
        return name

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        delete_topics(self._servers, [topic])

    def carry_out(self, topic: str, steps: Sequence[Step], *, compacted: bool) -> None:
        """Do one step after the other."""
        for step in steps:
            match step:
                case Produce():
                    self._produce(self._plain, topic, step.partition, step.records)
                case Transaction():
                    self._transaction(topic, step)
                case Repeat():
                    self._repeat(topic, step, compacted=compacted)
                case Truncate():
                    self._truncate(topic, step)

    def stop_compaction(self, topic: str) -> None:
        """Leave the log as it is from now on."""
        keep = ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[keep])
        retried_all(lambda: self._admin.incremental_alter_configs([resource]))

    @contextmanager
    def open_transaction(self, topic: str) -> Iterator[None]:
        """A transaction with some records in partition 0 that is open as long as the block, and comes to nothing."""
        self._transactional.begin_transaction()
        try:
            self._produce(self._transactional, topic, 0, 3)
            yield
        finally:
            retried(self._transactional.abort_transaction)

    def _transaction(self, topic: str, step: Transaction) -> None:
        self._transactional.begin_transaction()
        self._produce(self._transactional, topic, step.partition, step.records)
        self._produce(self._plain, topic, step.partition, step.others)
        if step.commits:
            retried(self._transactional.commit_transaction)
        else:
            retried(self._transactional.abort_transaction)

    def _repeat(self, topic: str, step: Repeat, *, compacted: bool) -> None:
        keys = [f"repeated-{next(self._numbers)}".encode() for _ in range(step.keys)]
        self._produce(self._plain, topic, step.partition, step.records, keys)
        if compacted:
            # The newest segment is never compacted, so there must be a newer one
            self._produce(self._plain, topic, step.partition, 1)
            wait_until(lambda: self._count(topic, keys) == min(len(keys), step.records), "the log to be compacted")

    def _truncate(self, topic: str, step: Truncate) -> None:
        low, high = self._bounds(topic, step.partition)
        offset = low + (high - low) * step.percent // 100
        if offset > low:
            retried_all(lambda: self._admin.delete_records([TopicPartition(topic, step.partition, offset)]))

    def _produce(
        self, producer: Producer, topic: str, partition: int, records: int, keys: Sequence[bytes] = ()
    ) -> None:
        # Later than what was written before, also than a transaction's marker, which has the broker's time
        self._timestamp = max(self._timestamp, int(time.time() * 1000)) + 2
        for index in range(records):
            number = next(self._numbers)
            key = keys[index % len(keys)] if keys else f"single-{number}".encode()
            producer.produce(topic, f"{number}".ljust(number % 200).encode(), key, partition, timestamp=self._timestamp)
        flush(producer)

    def _count(self, topic: str, keys: Sequence[bytes]) -> int:
        return sum(message.key() in keys for message in consume(self._servers, topic, "read_uncommitted"))

    def _bounds(self, topic: str, partition: int) -> tuple[int, int]:
        def look_up() -> tuple[int, int]:
            # Without new metadata the client goes on to ask a leader that does not know of the topic yet
            self._consumer.list_topics(topic, 10)
            low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), 10)
            return low, high

        return retried(look_up)
