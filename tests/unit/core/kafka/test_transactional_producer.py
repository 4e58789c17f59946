"""The memory of a producer with a transactional id of its transactions, without a broker."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import TopicPartition

from millrace.kafka.retry import Clock
from millrace.kafka.transactional_producer import SLOW_COMMIT_S, TransactionalProducer
from millrace.options.secrets import Properties
from support.clock import Clock as Seconds

OFFSETS = {b"group": TopicPartition("orders", 0, 1)}


class SlowClient:
    """A client whose requests are answered, after some seconds each."""

    def __init__(self, seconds: Seconds, takes_s: float) -> None:
        self._seconds, self._takes_s = seconds, takes_s

    def begin_transaction(self) -> None:
        pass

    def send_offsets_to_transaction(self, *_: object) -> None:
        self._seconds.now += self._takes_s

    def commit_transaction(self, *_: object) -> None:
        self._seconds.now += self._takes_s

    def poll(self, *_: object) -> int:
        return 0


@pytest.mark.parametrize(("offsets", "is_kept"), [({}, True), (OFFSETS, False)])
def test_a_producer_is_not_kept_after_a_slow_commit(offsets: dict[bytes, Any], is_kept: bool) -> None:
    seconds = Seconds()
    properties = Properties({"bootstrap.servers": "127.0.0.1:1"})
    producer = TransactionalProducer(properties, "copy-0", clock=Clock(now=seconds))
    # The ledger belongs to the commit: both together are slow
    client: Any = SlowClient(seconds, 0.6 * SLOW_COMMIT_S)
    producer.client = client

    producer.begin_transaction()
    seconds.now += 2 * SLOW_COMMIT_S  # Rows may take any time
    producer.commit_transaction(offsets)

    assert producer.may_be_kept is is_kept
