"""Writes whose broker goes and does not come back, or is silent for a while."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import DeliveryError
from millrace.kafka.producer import PRODUCERS, producer_for
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker

SCHEMA = pa.schema([("value", pa.binary())])
ROWS = 1_000
TIMEOUT_S = 3
WATCHED_S = 3


@pytest.fixture
def own(tmp_path):
    with KafkaBroker(data_dir=tmp_path) as running:
        running.create_topic("target", 1)
        yield running
    RESOURCES.drop(PRODUCERS)


@pytest.mark.parametrize("batches", [2, 300], ids=["a few records", "more than the queue holds"])
def test_a_dead_broker_fails_the_task_with_the_partition_and_how_much_was_lost(own, batches):
    options = {
        "properties.bootstrap.servers": own.bootstrap_servers,
        "properties.delivery.timeout.ms": str(TIMEOUT_S * 1000),
        "topic": "target",
    }
    config = prepare(configure_sink(options))
    made = 0

    def rows():
        nonlocal made
        for number in range(batches):
            if number == 1:
                producer_for(config.client, idempotent=True).client.flush()
                own.kill()
            made += 1
            yield pa.record_batch([pa.array([b"x" * 100] * ROWS)], schema=SCHEMA)

    began = time.monotonic()
    with pytest.raises(DeliveryError) as error:
        write(config, SCHEMA, rows(), WriteTask(0, 1, "me"))
    lost, handed_over = map(int, re.search(r"(\d+) of (\d+) records handed", str(error.value)).groups())
    # The first batch had arrived, and no more were taken than the queue holds
    assert handed_over == made * ROWS
    assert 0 < lost <= handed_over - ROWS
    assert made <= 102
    assert "target-0: " in str(error.value)
    assert "127.0.0.1" in str(error.value)
    assert TIMEOUT_S - 1 < time.monotonic() - began < TIMEOUT_S + 20


@pytest.mark.parametrize(
    ("rows", "guarantee"),
    [(50_000, "exactly-once"), (300_000, "at-least-once")],
    ids=["all rows wait", "the queue is full"],
)
def test_a_task_that_waits_for_a_silent_broker_leaves_the_processor_alone(own, rows, guarantee, tmp_path):
    options = {
        "properties.bootstrap.servers": own.bootstrap_servers,
        "topic": "target",
        "sink.delivery-guarantee": guarantee,
        **({"sink.transactional-id-prefix": f"silent-{rows}"} if guarantee == "exactly-once" else {}),
    }
    config = replace(prepare(configure_sink(options)), checkpoint_location=str(tmp_path / "checkpoint"))
    is_silent = threading.Event()

    def batches():
        yield pa.record_batch([pa.array([b"first"])], schema=SCHEMA)
        os.kill(own.pid, signal.SIGSTOP)
        is_silent.set()
        for _ in range(rows // ROWS):
            yield pa.record_batch([pa.array([b"x" * 100] * ROWS)], schema=SCHEMA)

    with ThreadPoolExecutor(1) as pool:
        try:
            written = pool.submit(write, config, SCHEMA, batches(), WriteTask(0, 1, "me"))
            assert is_silent.wait(30)
            # The queue fills first, which takes processor time of its own
            time.sleep(1)
            used, began = time.process_time(), time.monotonic()
            time.sleep(WATCHED_S)
            share = (time.process_time() - used) / (time.monotonic() - began)
            assert not written.done()
        finally:
            os.kill(own.pid, signal.SIGCONT)
        assert written.result(60).records == rows + 1
    assert share < 0.1
