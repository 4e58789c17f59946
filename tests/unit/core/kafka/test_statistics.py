"""Statistics of real clients whose brokers do not exist."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from millrace.kafka.producer import PRODUCERS, KafkaProducer
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
