"""Writes from threads that the user has started."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from py4j.protocol import Py4JJavaError

import millrace
from millrace import KafkaSink
from millrace.options.secrets import Properties
from support.kafka import consume
from support.waiting import PATIENCE_S

THREADS = 8


@pytest.fixture
def write(spark, connection):
    def write(topic: str) -> None:
        rows = spark.range(3).selectExpr("CAST(id AS STRING) AS value")
        rows.write.format("millrace").options(**connection, topic=topic).mode("append").save()

    return write


def test_eight_threads_write_at_once(spark, write, broker, make_topic):
    topics = [make_topic() for _ in range(THREADS)]
    with ThreadPoolExecutor(THREADS, initializer=millrace.set_active_session, initargs=(spark,)) as pool:
        list(pool.map(write, topics))
    for topic in topics:
        assert sorted(each.value() for each in consume(broker.bootstrap_servers, topic)) == [b"0", b"1", b"2"]


def test_a_sink_writes_from_any_thread(spark, connection, broker, make_topic, tmp_path):
    batch, stream = make_topic(), make_topic()
    rows = spark.range(3).selectExpr("CAST(id AS STRING) AS value")
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()

    def write() -> None:
        KafkaSink(Properties({**connection, "topic": batch})).write(rows)

    def start() -> None:
        sink = KafkaSink(Properties({**connection, "topic": stream}))
        values = numbers.selectExpr("CAST(value AS STRING) AS value")
        sink.start(values, checkpoint_location=tmp_path, trigger={"once": True}).awaitTermination(PATIENCE_S)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result()
        pool.submit(start).result()
    assert len(consume(broker.bootstrap_servers, batch)) == 3
    assert len(consume(broker.bootstrap_servers, stream)) == 2


def test_a_thread_without_a_session_is_told_what_to_do(write, make_topic):
    with ThreadPoolExecutor(1) as pool, pytest.raises(Py4JJavaError) as error:
        pool.submit(write, make_topic()).result()
    explained = millrace.explain_failure(error.value)
    assert explained is not None
    assert "call millrace.set_active_session(spark) first" in explained.message
