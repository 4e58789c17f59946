"""What happens when processes are killed in mid-query."""

from __future__ import annotations

import threading

import pytest
from confluent_kafka import Producer

from support.kafka import consume
from support.waiting import wait_until, wait_until_quiet
from support.workers import python_workers


class SteadyProducer(threading.Thread):
    """Writes ascending numbers to a topic until it is told to stop."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__()
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": "5", "log_level": 0})
        self._topic = topic
        self._stopping = threading.Event()
        self.written = 0

    def run(self) -> None:
        while not self._stopping.wait(0.01):
            for _ in range(50):
                self._producer.produce(self._topic, str(self.written).encode())
                self.written += 1
            self._producer.poll(0)
        assert self._producer.flush(30) == 0

    def finish(self) -> int:
        self._stopping.set()
        self.join(60)
        return self.written


@pytest.fixture
def copy(spark, tmp_path):
    """Starts a query that copies one topic to another; it is stopped after the test."""
    queries = []

    def start(servers: str, source: str, target: str, **options: str):
        connection = {"properties.bootstrap.servers": servers}
        query = (
            spark.readStream.format("millrace")
            .options(**connection, topic=source, **{"scan.startup.mode": "earliest-offset", **options})
            .load()
            .select("key", "value")
            .writeStream.format("millrace")
            .options(**connection, topic=target, checkpointLocation=str(tmp_path))
            .start()
        )
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


@pytest.fixture
def writing():
    """Starts steady producers; they are ended after the test."""
    producers = []

    def start(servers: str, topic: str) -> SteadyProducer:
        producers.append(SteadyProducer(servers, topic))
        producers[-1].start()
        return producers[-1]

    yield start
    for producer in producers:
        producer.finish()


def written_numbers(servers: str, topic: str) -> set[int]:
    return {int(message.value()) for message in consume(servers, topic)}


def test_no_record_is_lost_when_python_workers_are_killed(spark, broker, make_topic, copy, writing):
    source, target = make_topic(4), make_topic(3)
    producer = writing(broker.bootstrap_servers, source)
    query = copy(broker.bootstrap_servers, source, target)
    tracker = spark.sparkContext.statusTracker()
    killed_at_work = 0
    for _ in range(8):
        batch = query.lastProgress.batchId if query.lastProgress else -1
        wait_until(lambda seen=batch: query.lastProgress and query.lastProgress.batchId > seen, "another batch")
        wait_until(lambda: tracker.getActiveStageIds() and python_workers(), "a task at work")
        for worker in python_workers():
            worker.kill()
            killed_at_work += 1
    written = producer.finish()
    query.processAllAvailable()

    assert query.exception() is None
    assert killed_at_work >= 8
    assert written_numbers(broker.bootstrap_servers, target) == set(range(written))


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_query_goes_on_when_the_broker_comes_back(copy, writing, tmp_path_factory, end):
    from millrace.embedded import KafkaBroker

    # A folder of its own: temporary data would go when the broker is stopped
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka")) as own:
        own.create_topic("source", 2)
        own.create_topic("target", 2)
        producer = writing(own.bootstrap_servers, "source")
        query = copy(own.bootstrap_servers, "source", "target")
        wait_until(lambda: query.lastProgress and query.lastProgress.numInputRows, "the first batch")
        getattr(own, end)()
        # The query must have met the closed door before it opens again
        before = query.lastProgress.batchId
        wait_until_quiet(lambda: query.lastProgress.batchId, "the query to stand still")
        own.start()
        written = producer.finish()
        query.processAllAvailable()

        assert query.lastProgress.batchId > before
        assert written_numbers(own.bootstrap_servers, "target") == set(range(written))
        query.stop()
