"""Micro-batches of one record each, planned and read in this process, and what they leave in it."""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import psutil
from confluent_kafka import Producer
from pyspark.sql.types import BinaryType, StructType

from millrace.kafka.retry import poll
from millrace.worker import RESOURCES
from pyspark_millrace import DefaultSource
from support.retrying import flush
from support.waiting import PATIENCE_S

OPTIONS = {
    "scan.startup.mode": "earliest-offset",
    "properties.group.id": "short",
    # As many as in hours
    "properties.statistics.interval.ms": "5",
}


class Use(NamedTuple):
    """Memory, threads and sockets of this process.

    Attributes:
        memory: Resident memory, in bytes.
        threads: The number of its threads.
        sockets: The number of its sockets.
    """

    memory: int
    threads: int
    sockets: int


def use() -> Use:
    """Measure this process."""
    gc.collect()
    process = psutil.Process()
    return Use(process.memory_info().rss, process.num_threads(), len(process.net_connections()))


class ShortMicroBatches:
    """A stream as Spark calls it: plan, read, report, and go on where it ended; planner and tasks are in one process.

    Args:
        servers: The brokers.
        topic: A topic of the test's own.
    """

    def __init__(self, servers: str, topic: str) -> None:
        self.topic = topic
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        options = {**OPTIONS, "properties.bootstrap.servers": servers, "topic": topic}
        self.reader: Any = DefaultSource(options).streamReader(StructType().add("value", BinaryType()))
        self._at = self.reader.initialOffset()
        self._limit = self.reader.getDefaultReadLimit()

    def run(self, count: int) -> Use:
        """Write and read so many records, each in a micro-batch of its own, and return what this process uses then."""
        for _ in range(count):
            assert self.next() == 1
        return use()

    def next(self, reader: Any = None) -> int:
        """Write a record, and return how many the next micro-batch reads.

        Args:
            reader: The reader of the tasks; by default the driver's.
        """
        self._producer.produce(self.topic, b"v" * 100)
        flush(self._producer)
        look, is_new = partial(self.reader.latestOffset, self._at, self._limit), partial(operator.ne, self._at)
        end = poll(look, is_new, timeout_s=PATIENCE_S, interval_s=0.01)
        splits = self.reader.partitions(self._at, end)
        self._at = end
        return sum(batch.num_rows for split in splits for batch in (reader or self.reader).read(split))

    def reported(self) -> dict[str, Any]:
        """The metrics of the stream, as they stand in a query's progress."""
        metrics: dict[str, Any] = self.reader.reportLatestOffset()["metrics"]
        return metrics


@contextmanager
def short_micro_batches(servers: str, topic: str) -> Iterator[ShortMicroBatches]:
    """A stream that is stopped at the end, with all clients of this process."""
    stream = ShortMicroBatches(servers, topic)
    try:
        yield stream
    finally:
        stream.reader.stop()
        RESOURCES.close()
