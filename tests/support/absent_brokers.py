"""Writes of one worker whose only broker is paused or killed in the middle, and comes back."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
from confluent_kafka import Consumer, KafkaException, TopicPartition

from millrace.configuration.build import configure_sink
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace_broker import KafkaBroker
from support.kafka import consume, wait_for_markers
from support.waiting import PATIENCE_S, wait_until, wait_until_quiet

ROWS = 348_000
_BATCH = 1_000
_SCHEMA = pa.schema([("value", pa.binary())])
_FIRST = 48_000
"""Rows that fill a batch of each partition, which is sent without being flushed."""

Absence = Literal["paused", "killed"]

LONG_SESSION = {"broker.session.timeout.ms": "600000"}
"""Properties of a broker whose pause its controller does not notice.

Otherwise it is fenced when it goes on, and the cluster has no broker for a moment, see `millrace.kafka.lost_brokers`.
"""


class Outcome(NamedTuple):
    """The outcome of a write.

    Attributes:
        share: The processor time of this process while the broker was absent, in cores.
        written: How many rows the write reported.
        arrived: How often each number arrived.
    """

    share: float
    written: int
    arrived: Counter[int]


def write_while_absent(
    broker: KafkaBroker, topic: str, absence: Absence, watched_s: float, folder: Path, **options: str
) -> Outcome:
    """Write 348,000 rows of 120 bytes to four partitions, most of them while the broker is absent.

    The others have been sent before: requests under way are what a client waits for without pause.

    Args:
        broker: The broker, which this ends or pauses.
        topic: The topic.
        absence: Whether it is paused, or killed and started again.
        watched_s: How long it is watched while it is absent, in seconds.
        folder: For the checkpoint.
        options: Further options of the sink.
    """
    broker.create_topic(topic, 4)
    connection = {"properties.bootstrap.servers": broker.bootstrap_servers}
    options = {**connection, "topic": topic, "sink.partitioner": "round-robin", **options}
    config = replace(prepare(configure_sink(options)), checkpoint_location=str(folder / "checkpoint"))
    made = 0
    is_absent = threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal made
        for first in range(0, ROWS, _BATCH):
            if first == _FIRST:
                wait_until(lambda: has_records(broker, topic), "records in all partitions")
                leave(broker, absence)
                is_absent.set()
            yield _batch(range(first, first + _BATCH))
            made += _BATCH

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write, config, _SCHEMA, batches(), WriteTask(0, 1, "me"))
        try:
            wait_until(lambda: is_absent.is_set() or written.done(), "the broker to be absent")
            # Handing over takes processor time of its own
            wait_until_quiet(lambda: made, "all rows to wait, or the queue to be full", quiet_s=3)
            used, began = time.process_time(), time.monotonic()
            time.sleep(watched_s)
            share = (time.process_time() - used) / (time.monotonic() - began)
            assert not written.done(), written.result()
        finally:
            come_back(broker, absence)
        rows = written.result(PATIENCE_S).records
    wait_for_markers(broker.bootstrap_servers, topic)
    arrived = Counter(int(message.value()) for message in consume(broker.bootstrap_servers, topic))
    return Outcome(share, rows, arrived)


def _batch(numbers: range) -> pa.RecordBatch:
    return pa.record_batch([pa.array([b"%0120d" % number for number in numbers])], schema=_SCHEMA)


def has_records(broker: KafkaBroker, topic: str) -> bool:
    """Return whether each of a topic's four partitions has records, be they of transactions that are open."""
    settings = {"isolation.level": "read_uncommitted", "group.id": "tests"}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, **settings})
    try:
        return all(consumer.get_watermark_offsets(TopicPartition(topic, each), 10)[1] for each in range(4))
    except KafkaException:
        # The topic is so new that its leaders are not ready
        return False
    finally:
        consumer.close()


def leave(broker: KafkaBroker, absence: Absence) -> None:
    """Pause or kill a broker."""
    if absence == "paused":
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGSTOP)
    else:
        broker.kill()


def come_back(broker: KafkaBroker, absence: Absence) -> None:
    """Resume or start a broker that `leave` made absent."""
    if absence == "paused":
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGCONT)
    elif not broker.is_running:
        broker.start()
