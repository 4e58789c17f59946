"""A cluster that lists no broker for a while, as its only one is fenced, below an exactly-once write."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from millrace.configuration.build import configure_sink
from millrace.errors import ClientError
from millrace.kafka.lost_brokers import only_others_are_answered
from millrace.options.secrets import Properties
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace_broker import KafkaBroker, Listener
from support.kafka import QUICK_BROKER, consume
from support.waiting import PATIENCE_S, wait_until

SCHEMA = pa.schema([("value", pa.binary())])
TASK = WriteTask(0, 1, "me")
SILENT = logging.getLogger("silent")
# Its controller fences it four seconds after each of its heartbeats
FENCED = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "8000"}


def test_a_task_whose_client_has_lost_its_brokers_fails_soon_and_its_next_attempt_writes_all(tmp_path, caplog):
    data = tmp_path / "kafka"
    with KafkaBroker(data_dir=data, java_options=QUICK_BROKER) as calm:
        calm.create_topic("target", 4)
        config = replace(prepare(configure_sink(_options(calm))), checkpoint_location=str(tmp_path / "checkpoint"))
        listener = Listener("PLAINTEXT", port=int(calm.bootstrap_servers.rpartition(":")[2]))
        calm.stop()
        ended = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            with KafkaBroker(data_dir=data, listeners=[listener], properties=FENCED, java_options=QUICK_BROKER):
                written = pool.submit(write, config, SCHEMA, _rows_until(ended), TASK)
                wait_until(lambda: "leader-1 not found" in caplog.text or written.done(), "the broker to be fenced")
                ended.set()
            calm.start()
            with pytest.raises(ClientError, match="The next attempt of the task connects anew"):
                written.result(PATIENCE_S)
        rows = [b"%d" % number for number in range(100)]
        assert write(config, SCHEMA, [pa.record_batch([pa.array(rows)], schema=SCHEMA)], TASK).records == len(rows)
        arrived = Counter(message.value() for message in consume(calm.bootstrap_servers, "target"))
        assert arrived == Counter(rows)


def _options(broker: KafkaBroker) -> dict[str, str]:
    client = {"properties.bootstrap.servers": broker.bootstrap_servers, "properties.linger.ms": "5"}
    exactly_once = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "lost"}
    return {**client, **exactly_once, "properties.reconnect.backoff.max.ms": "1000", "topic": "target"}


def _rows_until(ended: threading.Event) -> Iterator[pa.RecordBatch]:
    # Some are sent while the broker is fenced
    while not ended.wait(0.02):
        yield pa.record_batch([pa.array([b"of the first attempt"])], schema=SCHEMA)


def test_brokers_are_lost_only_where_another_client_gets_an_answer_and_this_one_does_not(broker, make_topic):
    topic, gone = make_topic(1), "127.0.0.1:1"
    asked = [
        only_others_are_answered(
            Producer({"bootstrap.servers": own, "logger": SILENT}), Properties({"bootstrap.servers": others}), [topic]
        )
        for own in (broker.bootstrap_servers, gone)
        for others in (broker.bootstrap_servers, gone)
    ]
    # A producer that some broker answers waits for the others as always
    assert asked == [False, False, True, False]
