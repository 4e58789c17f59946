"""Writes whose broker goes and does not come back, or is silent for a while."""

from __future__ import annotations

import re
import time
from collections import Counter

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
from support.absent_brokers import LONG_SESSION, write_while_absent
from support.absent_brokers import ROWS as ABSENT_ROWS
from support.kafka import QUICK_BROKER
from support.waiting import sooner_than

SCHEMA = pa.schema([("value", pa.binary())])
ROWS = 1_000
TIMEOUT_S = 3
WATCHED_S = 3
DEFAULT_QUEUE: dict[str, str] = {}
QUEUE_OF_ALL = {"properties.queue.buffering.max.messages": "400000"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    # A folder of its own: temporary data would go with the broker
    with KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka"), java_options=QUICK_BROKER) as running:
        running.create_topic("target", 1)
        yield running


@pytest.fixture(scope="module")
def with_long_session(tmp_path_factory):
    with KafkaBroker(
        data_dir=tmp_path_factory.mktemp("kafka"), properties=LONG_SESSION, java_options=QUICK_BROKER
    ) as running:
        yield running


@pytest.fixture
def own(shared):
    if not shared.is_running:
        shared.start()
    yield shared
    RESOURCES.drop(PRODUCERS)


@pytest.mark.parametrize(
    ("absence", "guarantee", "queue"),
    [
        ("paused", "at-least-once", DEFAULT_QUEUE),
        ("paused", "exactly-once", QUEUE_OF_ALL),
        ("killed", "exactly-once", DEFAULT_QUEUE),
    ],
    ids=["paused, the queue is full", "paused, once", "killed, once, the queue is full"],
)
def test_a_task_that_waits_for_an_absent_broker_leaves_the_processor_alone(
    request, absence, guarantee, queue, tmp_path
):
    broker = request.getfixturevalue("with_long_session" if absence == "paused" else "own")
    once = {"sink.delivery-guarantee": guarantee}
    if guarantee == "exactly-once":
        once["sink.transactional-id-prefix"] = f"while-{absence}"
    topic = f"{absence}-{guarantee}"
    outcome = write_while_absent(broker, topic, absence, WATCHED_S, tmp_path, **once, **queue)
    # 0.03 where the machine is fast; a client that polls without pause takes 0.4 to 1.0 on any machine
    assert outcome.share < 0.2
    assert outcome.written == ABSENT_ROWS
    assert outcome.arrived == Counter(range(ABSENT_ROWS))
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
    with sooner_than(120, "the default of delivery.timeout.ms"), pytest.raises(DeliveryError) as error:
        write(config, SCHEMA, rows(), WriteTask(0, 1, "me"))
    assert time.monotonic() - began > TIMEOUT_S - 1
    lost, handed_over = map(int, re.search(r"(\d+) of (\d+) records handed", str(error.value)).groups())
    # The first batch had arrived, and no more were taken than the queue holds
    assert handed_over == made * ROWS
    assert 0 < lost <= handed_over - ROWS
    assert made <= 102
    assert "target-0: " in str(error.value)
    assert "127.0.0.1" in str(error.value)
