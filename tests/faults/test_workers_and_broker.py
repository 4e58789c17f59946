"""Queries whose workers and brokers are killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from support.kafka import QUICK_BROKER, consume
from support.queries import wait_for_batches_with_rows
from support.waiting import wait_until, wait_until_quiet
from support.workers import python_workers

ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def copy(spark, tmp_path):
    """Start a query that copies one topic to another; it is stopped after the test."""
    queries = []

    def start(servers: str, source: str, target: str, progress: Mapping[str, str] = {}, **options: str):
        connection = {"properties.bootstrap.servers": servers}
        query = (
            spark.readStream.format("millrace")
            .options(**connection, topic=source, **{"scan.startup.mode": "earliest-offset", **options})
            .load()
            .select("key", "value")
            .writeStream.format("millrace")
            .options(**connection, topic=target, checkpointLocation=str(tmp_path), **progress)
            .start()
        )
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


def written_numbers(servers: str, topic: str) -> set[int]:
    return {int(message.value()) for message in consume(servers, topic)}


def kill_workers_at_work(spark, query, rounds: int) -> int:
    """Kill all Python workers while a task is at work, some times; returns how many were killed."""
    tracker = spark.sparkContext.statusTracker()
    killed = 0
    for _ in range(rounds):
        batch = query.lastProgress.batchId if query.lastProgress else -1
        wait_until(lambda seen=batch: query.lastProgress and query.lastProgress.batchId > seen, "another batch")
        wait_until(lambda: tracker.getActiveStageIds() and python_workers(), "a task at work")
        for worker in python_workers():
            worker.kill()
            killed += 1
    return killed


@pytest.mark.parametrize(("progress", "rounds"), [({}, 8), (ASYNCHRONOUS, 4)], ids=["", "asynchronous progress"])
def test_no_record_is_lost_when_python_workers_are_killed(spark, broker, make_topic, copy, writing, progress, rounds):
    source, target = make_topic(4), make_topic(3)
    producer = writing(broker.bootstrap_servers, source)
    query = copy(broker.bootstrap_servers, source, target, progress)

    assert kill_workers_at_work(spark, query, rounds) >= rounds
    written = producer.finish()
    query.processAllAvailable()

    assert query.exception() is None
    assert written_numbers(broker.bootstrap_servers, target) == set(range(written))


def test_no_record_is_repeated_in_a_checkpointed_result_when_python_workers_are_killed(
    spark, broker, make_topic, writing, saved
):
    source = make_topic(4)
    producer = writing(broker.bootstrap_servers, source)
    query = saved.start(broker.bootstrap_servers, source)

    assert kill_workers_at_work(spark, query, rounds=4) >= 4
    written = producer.finish()
    query.processAllAvailable()

    assert saved.numbers() == Counter(range(written))


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_queries_go_on_when_the_broker_comes_back(spark, copy, copying, writing, tmp_path_factory, end):
    from millrace_broker import KafkaBroker

    # A folder of its own: temporary data would go when the broker is stopped
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka"), java_options=QUICK_BROKER) as own:
        for topic in ("source", "target", "once"):
            own.create_topic(topic, 2)
        producer = writing(own.bootstrap_servers, "source")
        query = copy(own.bootstrap_servers, "source", "target")
        exactly_once = copying(own.bootstrap_servers, "source", "once", read={"scan.max-records-per-batch": "20000"})
        once = exactly_once.start(spark, ends=False)
        for each in (query, once):
            wait_for_batches_with_rows(each, 2)
        getattr(own, end)()
        # The queries must have met the closed door before it opens again
        before = query.lastProgress.batchId
        wait_until_quiet(lambda: (query.lastProgress.batchId, once.lastProgress.batchId), "the queries to stand still")
        own.start()
        written = producer.finish()
        for each in (query, once):
            each.processAllAvailable()
        once.stop()

        assert query.lastProgress.batchId > before
        assert written_numbers(own.bootstrap_servers, "target") == set(range(written))
        assert exactly_once.copied() == Counter(range(written))
        query.stop()
