"""A real producer whose brokers do not exist: whatever it can tell without them."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.errors import DeliveryError, MessageError
from millrace.kafka.producer import KafkaProducer, producer_for
from millrace.options.secrets import Properties
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.produce import RecordWriter
from support.waiting import wait_until

NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "delivery.report.only.error": True}


both_clients = pytest.mark.parametrize("in_batches", [False, True], ids=["one by one", "in batches"])


def writer(in_batches: bool = False, **settings: str) -> RecordWriter:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return RecordWriter(KafkaProducer({**NOWHERE, **named}, in_batches=in_batches), flush_interval_s=0.05)


def is_refused(task: RecordWriter) -> bool:
    """Return whether the client has noticed that nobody listens, which it may do after its records are too old."""
    task._producer.poll()
    return "Connection refused" in task._producer.client_log.recent_errors()


def values(count: int, **further: Any) -> ProducerRecords:
    return ProducerRecords("orders", Payloads([b"v"] * count), **further)


@pytest.mark.parametrize(
    "further",
    [
        {},
        {"keys": Payloads([b"k", None])},
        {"headers": [[("h", b"1"), ("n", None)], []]},
        {"timestamps": pa.array([1_000, None])},
    ],
    ids=["values", "keys", "headers", "timestamps"],
)
def test_what_is_handed_over_is_counted(further: dict[str, Any]) -> None:
    task = writer()
    task.write(values(2, **further), None)
    assert task.records == 2


@both_clients
def test_partitions_may_be_left_to_the_client(in_batches: bool) -> None:
    task = writer(in_batches)
    task.write(values(2), pa.array([5, None], pa.int32()))
    assert task.records == 2


@both_clients
@pytest.mark.parametrize("keys", [None, Payloads([b"k"] * 100)], ids=["values", "keys"])
def test_a_full_queue_is_waited_for_until_deliveries_fail(keys: Payloads | None, in_batches: bool) -> None:
    task = writer(in_batches, queue_buffering_max_messages="10", message_timeout_ms="50")
    with pytest.raises(DeliveryError) as error:
        task.write(values(100, keys=keys), None)
    assert re.match(r"[1-9]\d* of [1-9]\d* records handed to the client so far were not delivered", str(error.value))


@both_clients
def test_records_that_are_not_acknowledged_fail_the_task(in_batches: bool) -> None:
    task = writer(in_batches, message_timeout_ms="50")
    wait_until(lambda: is_refused(task), "the client's connection to be refused")
    task.write(values(3), pa.array([7, 7, 7], pa.int32()))
    with pytest.raises(DeliveryError) as error:
        task.flush()
    message = str(error.value)
    assert message.startswith(
        "3 of 3 records handed to the client so far were not delivered; the first, orders-7: Local: "
    )
    assert "Connection refused" in message
    assert message.endswith("The task fails, and Spark writes its rows again when it is tried again")


@both_clients
def test_a_partition_that_the_client_was_to_choose_is_not_told_as_none(in_batches: bool) -> None:
    task = writer(in_batches, message_timeout_ms="50")
    task.write(values(1), None)
    with pytest.raises(DeliveryError) as error:
        task.flush()
    assert "None" not in str(error.value)


@both_clients
def test_failures_of_the_task_before_are_not_this_tasks(in_batches: bool) -> None:
    producer = KafkaProducer({**NOWHERE, "message.timeout.ms": "50"}, in_batches=in_batches)
    first = RecordWriter(producer, flush_interval_s=0.05)
    first.write(values(3), None)
    while producer.client.flush(0.05):
        pass
    RecordWriter(producer, flush_interval_s=0.05).flush()


@both_clients
def test_failures_that_nobody_waited_for_are_counted_at_the_end_or_by_the_next_task(in_batches: bool) -> None:
    producer = KafkaProducer({**NOWHERE, "message.timeout.ms": "50"}, in_batches=in_batches)
    first = RecordWriter(producer, flush_interval_s=0.05)
    first.write(values(3), None)
    while producer.client.flush(0.05):
        pass
    first.count_failures()
    first.count_failures()
    assert (first.failed, first.send_ms) == (3, None)
    second = RecordWriter(producer, flush_interval_s=0.05)
    second.write(values(2), None)
    while producer.client.flush(0.05):
        pass
    assert RecordWriter(producer, flush_interval_s=0.05).failed == 2


@both_clients
def test_a_record_that_is_too_large_is_told_as_the_records_fault(in_batches: bool) -> None:
    task = writer(in_batches, message_max_bytes="1000")
    with pytest.raises(MessageError, match=r"orders.*Message size too large"):
        task.write(ProducerRecords("orders", Payloads([b"x" * 2000])), None)


def test_a_worker_keeps_its_producer_for_a_configuration_and_guarantee() -> None:
    client = Properties({"bootstrap.servers": "127.0.0.1:1"})
    same = Properties({"bootstrap.servers": "127.0.0.1:1"})
    assert producer_for(client, idempotent=True) is producer_for(same, idempotent=True)
    assert producer_for(client, idempotent=True) is not producer_for(client, idempotent=False)
