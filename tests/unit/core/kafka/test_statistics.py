"""Statistics of real clients whose brokers do not exist."""

from __future__ import annotations

import gc
import itertools
import json
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from millrace.kafka.producer import PRODUCERS, KafkaProducer
from millrace.kafka.statistics import Statistics
from millrace.worker import WorkerResources
from support.waiting import wait_until

SETTINGS: dict[str, Any] = {"bootstrap.servers": "127.0.0.1:1", "statistics.interval.ms": "20", "client.id": "me"}


@pytest.fixture
def resources() -> WorkerResources:
    return WorkerResources()


@pytest.fixture
def create(resources: WorkerResources) -> Callable[..., KafkaProducer]:
    """Create producers that the worker keeps."""
    numbers = itertools.count()

    def create_producer(settings: dict[str, Any]) -> KafkaProducer:
        return resources.get(PRODUCERS, next(numbers), lambda: KafkaProducer(settings))

    return create_producer


def test_producers_with_one_client_id_have_names_of_their_own(
    resources: WorkerResources, create: Callable[..., KafkaProducer]
) -> None:
    both = [create(SETTINGS), create(SETTINGS)]

    def names() -> set[str]:
        resources.poll()
        return {each.statistics.latest()[0] for each in both} - {""}

    wait_until(lambda: len(names()) == 2, "statistics of both")
    assert all(name.startswith("me#producer-") for name in names())


def test_a_producer_tells_what_it_has_sent_and_what_waits(
    resources: WorkerResources, create: Callable[..., KafkaProducer]
) -> None:
    producer = create(SETTINGS)
    producer.client.produce("orders", b"12345")

    def totals() -> dict[str, int]:
        resources.poll()
        return producer.statistics.latest()[1]

    wait_until(lambda: totals().get("msg_cnt") == 1, "statistics with the record")
    assert {"txmsgs": 0, "txmsg_bytes": 0, "msg_size": 5, "record-send-total": 0}.items() <= totals().items()
    found = totals()
    assert found["request-total"] == found["tx"]
    assert found["buffer-available-bytes"] == found["buffer-total-bytes"] - 5
    assert found["connection-count"] == found["requests-in-flight"] == 0
    # Nothing was sent, of which there is no average
    assert not any(name.endswith(("-avg", "-max")) for name in found)


def test_a_producer_without_statistics_says_nothing(
    resources: WorkerResources, create: Callable[..., KafkaProducer]
) -> None:
    silent = create({"bootstrap.servers": "127.0.0.1:1"})
    resources.poll()
    assert silent.statistics.latest() == ("", {})


def test_a_producer_that_is_dropped_is_not_kept_to_be_heard(
    resources: WorkerResources, create: Callable[..., KafkaProducer]
) -> None:
    dropped = weakref.ref(create({"bootstrap.servers": "127.0.0.1:1"}))
    resources.poll()
    resources.drop(PRODUCERS)
    gc.collect()
    assert dropped() is None


def report(messages: int, batch_sizes: Mapping[str, int], round_trips: Mapping[str, int]) -> str:
    """Return a producer's report with the fields of librdkafka's that are read, in its order."""
    nothing = {"cnt": 0, "avg": 0, "max": 0}
    broker = {"state": "UP", "connects": 1, "disconnects": 0, "waitresp_cnt": 0}
    windows = {"rtt": round_trips, "int_latency": nothing, "throttle": nothing}
    traffic = dict.fromkeys(("msg_cnt", "msg_size", "msg_size_max"), 0)
    totals = dict.fromkeys(("tx", "tx_bytes", "rx", "rx_bytes"), 0) | {"txmsgs": messages, "txmsg_bytes": 5 * messages}
    return json.dumps(
        {"name": "me#producer-1", "type": "producer", **traffic}
        | {"brokers": {"localhost:9092/0": broker | windows}}
        | {"topics": {"orders": {"metadata_age": 7, "batchsize": batch_sizes}}}
        | totals
    )


def test_averages_are_of_the_last_interval_with_any_although_idle_reports_follow_it() -> None:
    statistics = Statistics()
    on_statistics = statistics.settings()["stats_cb"]
    nothing = {"cnt": 0, "avg": 0, "max": 0}
    on_statistics(report(0, nothing, {"cnt": 1, "avg": 9_000, "max": 9_000}))
    on_statistics(report(2, {"cnt": 2, "avg": 100, "max": 120}, nothing))
    on_statistics(report(2, nothing, nothing))
    on_statistics(report(2, nothing, {"cnt": 2, "avg": 4_000, "max": 5_000}))
    found = statistics.latest()[1]
    assert (found["txmsgs"], found["batch-size-avg"], found["batch-size-max"]) == (2, 100, 120)
    assert (found["request-latency-avg"], found["request-latency-max"], found["rtt_avg_us"]) == (4, 5, 4_000)

    on_statistics(report(2, nothing, nothing))
    assert statistics.latest()[1] == found
    on_statistics(report(3, {"cnt": 1, "avg": 80, "max": 80}, nothing))
    newer = statistics.latest()[1]
    assert (newer["txmsgs"], newer["batch-size-avg"], newer["request-latency-avg"]) == (3, 80, 4)
