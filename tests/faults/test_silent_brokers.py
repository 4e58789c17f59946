"""Brokers that are killed and started again while a query plans, reads and writes: both are told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import millrace
from millrace.checkpoint import StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.kafka.consumer import new_consumer
from millrace.kafka.delivery import Delivery
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.options.secrets import Properties
from millrace.source.enumerator.planner import Planner
from millrace.source.reader.fetch import fetch
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from millrace_broker import KafkaBroker
from support.health_answers import health_answers
from support.kafka import QUICK_BROKER, produce
from support.names import unique_name
from support.waiting import wait_until

MESSAGES = 3
EARLIEST = {"scan.startup.mode": "earliest-offset"}


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A broker that tests kill and start; its data stay."""
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka"), java_options=QUICK_BROKER) as running:
        yield running


@pytest.fixture
def topic(mortal: KafkaBroker) -> str:
    if not mortal.is_running:
        mortal.start()
    name = unique_name("silent")
    mortal.create_topic(name, 1)
    produce(mortal.bootstrap_servers, name, [{"value": b"v"}] * MESSAGES)
    return name


@pytest.fixture
def while_dead(mortal: KafkaBroker, caplog: pytest.LogCaptureFixture) -> Callable[..., Any]:
    """Do something with a broker that is dead until it has been told, and check that its return is told, too."""

    def run(action: Callable[[], Any], doing: str) -> Any:
        mortal.kill()
        silence = f"no answer from Kafka at {mortal.bootstrap_servers} for "
        with ThreadPoolExecutor(1) as threads:
            result = threads.submit(action)
            wait_until(lambda: silence in caplog.text, "the silence to be told")
            mortal.start()
            outcome = result.result()
        # At most 10 seconds, and not only when it was over
        told = re.search(rf"{re.escape(silence)}(\d+) s when {re.escape(doing)}", caplog.text)
        assert told is not None
        assert int(told[1]) < 10
        assert "Connection refused" in caplog.text
        assert f"Kafka at {mortal.bootstrap_servers} answers again, after " in caplog.text
        return outcome

    return run


def test_a_stream_that_is_planned_is_waited_for(mortal, topic, while_dead):
    options = {"properties.bootstrap.servers": mortal.bootstrap_servers, "topic": topic}
    planner = Planner.connect(configure_source(options))
    read = planner.available(StreamOffset({}))

    assert while_dead(lambda: planner.available(read), "looking up offsets") == read


def test_a_task_that_reads_goes_on(mortal, topic, while_dead):
    consumer = new_consumer(Properties({"bootstrap.servers": mortal.bootstrap_servers}))
    split = Split((OffsetRange(TopicPartition(topic, 0), 0, MESSAGES),))

    def read() -> int:
        return sum(len(each.items) for each in fetch(consumer, split, SplitMetrics()))

    assert read() == MESSAGES
    assert while_dead(read, f"reading {topic}-0 [0, 3)") == MESSAGES
    consumer.close()


def test_a_task_that_writes_goes_on(mortal, topic, while_dead):
    client = Properties({"bootstrap.servers": mortal.bootstrap_servers})
    delivery = Delivery(KafkaProducer(producer_settings(client, idempotent=True)))
    delivery.produce(topic, value=b"v")
    delivery.flush()

    def write() -> None:
        delivery.produce(topic, value=b"v")
        delivery.flush()

    while_dead(write, "writing records")


@pytest.fixture
def options(mortal: KafkaBroker, topic: str) -> dict[str, str]:
    return {"properties.bootstrap.servers": mortal.bootstrap_servers, "topic": topic, **EARLIEST}


@pytest.fixture
def start(spark, options, tmp_path) -> Iterator[Callable[[], Any]]:
    """Start a query that has read all there is; it is stopped at the end."""
    queries = []

    def run() -> Any:
        rows = spark.readStream.format("millrace").options(**options).load()
        writer = rows.writeStream.queryName(options["topic"]).format("noop")
        queries.append(writer.option("checkpointLocation", str(tmp_path)).start())
        queries[-1].processAllAvailable()
        return queries[-1]

    yield run
    for query in queries:
        query.stop()


def test_why_says_so_of_a_query_that_runs(mortal, options, start):
    query = start()
    mortal.kill()
    wait_until(lambda: millrace.why(query).cause.kind == "unreachable", "the query to wait for its broker")
    dead = millrace.why(query, options=options)
    assert [cause.kind for cause in dead.causes] == ["unreachable"]
    assert "Connection refused" in dead.cause.message
    assert "SASL" not in dead.cause.message
    mortal.start()
    wait_until(lambda: millrace.why(query, options=options).cause.kind == "no-new-offsets", "the broker")


def test_healthz_is_503_for_a_query_whose_brokers_stay_away(spark, mortal, topic, start):
    said = []

    def has_ended() -> bool:
        status, sentence = healthz()
        if status == 503:
            said.append(sentence)
        return sentence.startswith(f"query {topic!r} has ended: ")

    with health_answers(spark) as healthz:
        start()
        wait_until(lambda: healthz() == (200, "1 query runs"), "the report of the query's start")
        mortal.kill()
        # It waits for its brokers for a minute. Nothing waits to be read, so that until then only its silence tells
        wait_until(has_ended, "the end of the query to be told", interval_s=0.5)
    *silent, ended = said
    assert f"no Kafka broker answered within 60 s at {mortal.bootstrap_servers}" in ended
    silence = f"query {topic!r} has reported neither a micro-batch nor that it is idle for "
    assert all(sentence.startswith(silence) and "brokers do not answer" in sentence for sentence in silent)
