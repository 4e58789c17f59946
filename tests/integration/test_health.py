"""The answer of ``/healthz`` while real queries are idle, hang, wait for a transaction, and fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from support.health_answers import health_answers
from support.kafka import produce, transactional_producer
from support.retrying import retried
from support.waiting import wait_until

pytestmark = pytest.mark.nightly

EARLIEST = {"scan.startup.mode": "earliest-offset"}


@pytest.fixture
def healthz(spark) -> Iterator:
    with health_answers(spark) as ask:
        yield ask


@pytest.fixture
def start(spark, connection, tmp_path) -> Iterator:
    """Start queries; all are stopped at the end."""
    queries = []

    def run(topic, process=None, **options):
        rows = spark.readStream.format("millrace").options(**connection, **EARLIEST, **options, topic=topic).load()
        writer = rows.writeStream.queryName(topic).option("checkpointLocation", str(tmp_path / topic))
        writer = writer.format("noop") if process is None else writer.foreachBatch(process)
        queries.append(writer.start())
        return queries[-1]

    yield run
    for query in queries:
        query.stop()


def test_an_idle_query_is_well_and_one_that_hangs_is_not(healthz, start, broker, make_topic):
    idle, hung = make_topic(1), make_topic(1)
    start(idle).processAllAvailable()
    produce(broker.bootstrap_servers, hung, [{"value": b"v"}] * 3)
    goes_on = threading.Event()

    def process(_rows, batch):
        if batch:
            goes_on.wait()

    try:
        query = start(hung, process, **{"scan.max-records-per-batch": "1"})
        wait_until(lambda: healthz()[0] == 503, "the hung query to be told")
        assert f"query {hung!r} has made no progress for " in healthz()[1]
        assert " s, and 2 records wait; ask why" in healthz()[1]
    finally:
        goes_on.set()
    query.processAllAvailable()
    wait_until(lambda: healthz() == (200, "2 queries run"), "both to be well")


def test_a_query_that_waits_for_a_transaction_is_not_well(healthz, start, broker, make_topic):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    producer = transactional_producer(broker.bootstrap_servers, topic)
    producer.begin_transaction()
    producer.produce(topic, b"hidden")
    producer.flush()
    start(topic)
    wait_until(lambda: healthz()[0] == 503, "the waiting query to be told")
    assert "1 records wait, 1 of them behind open transactions; ask why" in healthz()[1]
    retried(producer.commit_transaction)
    wait_until(lambda: healthz() == (200, "1 query runs"), "the query to go on")


def test_a_query_that_has_failed_is_not_well(healthz, start, broker, make_topic):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])

    def fail(_rows, _batch):
        raise ValueError("no such customer")

    start(topic, fail)
    wait_until(lambda: healthz()[0] == 503, "the failure to be told")
    assert healthz()[1].startswith(f"query {topic!r} has ended: ")
    assert "no such customer" in healthz()[1]
