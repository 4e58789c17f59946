"""What happens when processes are killed in mid-query."""

from __future__ import annotations

import threading

from confluent_kafka import Producer

from support.kafka import consume
from support.waiting import wait_until
from support.workers import python_workers


class SteadyProducer(threading.Thread):
    """Writes ascending numbers to a topic until it is told to stop."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__()
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": "5"})
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


def test_no_record_is_lost_when_python_workers_are_killed(spark, connection, broker, make_topic, tmp_path):
    source, target = make_topic(4), make_topic(3)
    producer = SteadyProducer(broker.bootstrap_servers, source)
    producer.start()
    query = (
        spark.readStream.format("millrace")
        .options(**connection, topic=source, **{"scan.startup.mode": "earliest-offset"})
        .load()
        .select("key", "value")
        .writeStream.format("millrace")
        .options(**connection, topic=target, checkpointLocation=str(tmp_path))
        .start()
    )
    try:
        killed = 0
        for _ in range(8):
            batch = query.lastProgress.batchId if query.lastProgress else -1
            wait_until(lambda seen=batch: query.lastProgress and query.lastProgress.batchId > seen, "another batch")
            wait_until(python_workers, "a worker")
            for worker in python_workers():
                worker.kill()
                killed += 1
        written = producer.finish()
        query.processAllAvailable()

        assert query.exception() is None
        assert killed >= 8
        assert {int(message.value()) for message in consume(broker.bootstrap_servers, target)} == set(range(written))
    finally:
        query.stop()
        producer.finish()


def test_a_query_goes_on_when_the_broker_comes_back(spark, tmp_path):
    from millrace.embedded import KafkaBroker

    with KafkaBroker() as own:
        own.create_topic("source", 2)
        own.create_topic("target", 2)
        connection = {"properties.bootstrap.servers": own.bootstrap_servers}
        producer = SteadyProducer(own.bootstrap_servers, "source")
        producer.start()
        query = (
            spark.readStream.format("millrace")
            .options(**connection, topic="source", **{"scan.startup.mode": "earliest-offset"})
            .load()
            .select("key", "value")
            .writeStream.format("millrace")
            .options(**connection, topic="target", checkpointLocation=str(tmp_path))
            .start()
        )
        try:
            wait_until(lambda: query.lastProgress and query.lastProgress.numInputRows, "the first batch")
            own.restart()
            written = producer.finish()
            restarted = query if query.isActive else None
            assert restarted is not None, query.exception()
            query.processAllAvailable()

            assert {int(message.value()) for message in consume(own.bootstrap_servers, "target")} == set(range(written))
        finally:
            query.stop()
            producer.finish()
