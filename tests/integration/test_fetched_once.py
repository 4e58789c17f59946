"""A backlog that is read in limited micro-batches comes from its broker once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from bench.delayed_proxy import DelayedProxy
from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType, StructType

from millrace.kafka import fetch_sizes
from millrace.kafka.consumer import CONSUMERS
from millrace.kafka.retry import poll
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker
from pyspark_millrace import DefaultSource
from support.admin import delete_topics
from support.far_broker import far_broker
from support.kafka import produce
from support.waiting import PATIENCE_S, sooner_than

PARTITIONS, RECORDS, SIZE = 4, 120_000, 150
OF_ONE, OF_SEVERAL = 24_000, 4_000
"""Limits by which a task reads one partition, and all of them."""

MOST = 1.5
"""Bytes from the broker for each byte of a value: 1.07 is all that there is, and before it was 2.5 and more."""


@pytest.fixture(scope="module")
def far() -> Iterator[tuple[KafkaBroker, DelayedProxy]]:
    with far_broker() as both:
        yield both


@pytest.fixture(scope="module")
def backlog(far: tuple[KafkaBroker, DelayedProxy]) -> str:
    broker, _ = far
    broker.create_topic("backlog", PARTITIONS)
    records = ({"value": b"%0*d" % (SIZE, number), "partition": number % PARTITIONS} for number in range(RECORDS))
    produce(broker.bootstrap_servers, "backlog", records, **{"batch.size": "40000", "linger.ms": "50"})
    return "backlog"


class LimitedStream:
    """A stream as Spark calls it, planned and read in this process.

    Args:
        servers: The brokers.
        topic: The topic.
        limit: The number of records in a micro-batch.
        options: Further options.
    """

    def __init__(self, servers: str, topic: str, limit: int, **options: str) -> None:
        given = {"properties.bootstrap.servers": servers, "topic": topic, "scan.startup.mode": "earliest-offset"}
        named = {name.replace("__", "-").replace("_", "."): value for name, value in options.items()}
        source = DefaultSource({**given, "scan.max-records-per-batch": str(limit), **named})
        self.reader: Any = source.streamReader(StructType().add("value", BinaryType()))
        self._limit = self.reader.getDefaultReadLimit()
        self._at = self.reader.initialOffset()

    def next(self, *, attempts: int = 1) -> list[bytes]:
        """Return the values of the next micro-batch; empty where there is none."""
        end = self.reader.latestOffset(self._at, self._limit)
        splits = self.reader.partitions(self._at, end) if end != self._at else []
        for _ in range(attempts):
            read = [pc.cast(batch.column(0), "binary") for split in splits for batch in self.reader.read(split)]
        self._at = end
        return [value for column in read for value in column.to_pylist()] if splits else []

    def rest(self) -> list[bytes]:
        """Return the values of all micro-batches up to the end."""
        values: list[bytes] = []
        while some := self.next():
            values += some
        return values


@pytest.fixture(autouse=True)
def executor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of an executor, which this process plays."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    yield tmp_path / "millrace-fetched"
    for consumer in RESOURCES.items(CONSUMERS).values():
        consumer.close()
    RESOURCES.drop(CONSUMERS)


@pytest.mark.parametrize("limit", [OF_ONE, OF_SEVERAL], ids=["of one partition", "of several partitions"])
def test_tasks_fetch_each_byte_about_once(far, backlog: str, executor: Path, limit: int) -> None:
    _, proxy = far
    stream = LimitedStream(proxy.servers, backlog, limit)
    proxy.take_traffic()

    values = stream.rest()

    assert proxy.take_traffic().answered_bytes < MOST * RECORDS * SIZE
    assert sorted(map(int, values)) == list(range(RECORDS))
    # The last micro-batches have used all
    assert list(executor.iterdir()) == []
    stream.reader.stop()


def test_the_workers_of_spark_fetch_each_byte_about_once(
    far, backlog: str, spark: SparkSession, tmp_path: Path
) -> None:
    _, proxy = far
    rows = spark.readStream.format("millrace").option("properties.bootstrap.servers", proxy.servers)
    rows = rows.option("topic", backlog).option("scan.startup.mode", "earliest-offset")
    rows = rows.option("scan.max-records-per-batch", OF_ONE).schema("value BINARY").load()
    writer = rows.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    proxy.take_traffic()

    query = writer.option("path", str(tmp_path / "rows")).trigger(availableNow=True).start()
    assert query.awaitTermination(PATIENCE_S)

    assert proxy.take_traffic().answered_bytes < MOST * RECORDS * SIZE
    assert spark.read.parquet(str(tmp_path / "rows")).distinct().count() == RECORDS


@pytest.mark.nightly
def test_a_partition_that_is_assigned_anew_is_fetched_at_once(
    far, backlog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Minutes, for which a read would otherwise stand still
    monkeypatch.setitem(fetch_sizes._SINGLY, "fetch.queue.backoff.ms", "300000")
    _, proxy = far
    stream = LimitedStream(proxy.servers, backlog, RECORDS // 2)
    with sooner_than(120, "a pause between fetches"):
        assert sum(len(stream.next()) for _ in range(2)) == RECORDS
    assert proxy.take_traffic().requests["Fetch"] > 2 * PARTITIONS
    stream.reader.stop()


@pytest.mark.nightly
def test_a_repeated_task_reads_the_same(far, backlog: str) -> None:
    _, proxy = far
    stream = LimitedStream(proxy.servers, backlog, OF_ONE)
    values: list[bytes] = []
    while some := stream.next(attempts=2):
        values += some
    assert sorted(map(int, values)) == list(range(RECORDS))
    stream.reader.stop()


def test_of_a_topic_that_is_made_anew_nothing_old_is_read(far, executor: Path) -> None:
    broker, proxy = far

    def make(kind: bytes) -> None:
        broker.create_topic("made-anew", 1)
        produce(broker.bootstrap_servers, "made-anew", ({"value": kind * SIZE} for _ in range(2_000)))

    make(b"o")
    at_once = {"scan_topic__partition__discovery_interval": "1 ms", "scan_fail__on__data__loss": "false"}
    stream = LimitedStream(proxy.servers, "made-anew", 200, **at_once)
    assert stream.next() == [b"o" * SIZE] * 200
    assert list(executor.iterdir())
    delete_topics(broker.bootstrap_servers, ["made-anew"])
    make(b"n")

    values = poll(stream.next, timeout_s=PATIENCE_S, interval_s=0.1) + stream.rest()
    assert values == [b"n" * SIZE] * 2_000
    stream.reader.stop()
