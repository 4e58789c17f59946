"""A topic with very many partitions, each of which could cost a little too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.kafka import produce
from support.waiting import sooner_than
from support.workers import python_workers

PARTITIONS = 500
RECORDS = 2_500
SECONDS_OF_A_WAIT = 0.5
"""The shortest time for which a client waits for records; where partitions are read one by one, they add up."""
MOST_BYTES = 350 << 20


@pytest.fixture
def topic(broker, make_topic) -> str:
    name = make_topic(PARTITIONS)
    records = ({"value": str(n).encode(), "partition": n % PARTITIONS} for n in range(RECORDS))
    produce(broker.bootstrap_servers, name, records)
    return name


@contextmanager
def bounded_time_and_memory() -> Iterator[None]:
    with sooner_than(PARTITIONS * SECONDS_OF_A_WAIT, "waits for one partition after the other"):
        yield
    assert all(worker.memory_info().rss < MOST_BYTES for worker in python_workers())


def test_a_batch_reads_five_hundred_partitions(spark, connection, topic):
    rows = spark.read.format("millrace").options(**connection, topic=topic).schema("value BINARY").load()
    with bounded_time_and_memory():
        found = rows.selectExpr("CAST(STRING(value) AS BIGINT) AS number").toArrow()["number"].to_pylist()

    assert Counter(found) == Counter(range(RECORDS))


def test_a_stream_reads_five_hundred_partitions(broker, topic, saved):
    with bounded_time_and_memory():
        query = saved.start(broker.bootstrap_servers, topic, **{"scan.max-records-per-batch": "1000"})
        query.processAllAvailable()

    assert [progress.numInputRows for progress in query.recentProgress if progress.numInputRows] == [1_000, 1_000, 500]
    assert saved.numbers() == Counter(range(RECORDS))
