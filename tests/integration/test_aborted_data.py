"""Reading where a log has no visible message for long: much of it was aborted."""

from __future__ import annotations

import json

import pytest

from millrace.contracts import TopicPartition
from millrace.kafka.consumer import KafkaConsumer, new_consumer
from millrace.kafka.statistics import FetchPositions
from millrace.options.secrets import Properties
from millrace.source.reader.fetch import fetch
from millrace.source.reader.fetch_timeouts import FetchTimeouts
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from support.kafka import transactional_producer, wait_for_markers
from support.retrying import flush, retried

ABORTED = 40_000

BYTES = 1_000
"""Size of each record."""

# One small batch after the other takes seconds, whatever the machine
SMALL = {"batch.size": 4096, "linger.ms": 1000, "queue.buffering.max.messages": 1_000_000}
SLOW = {"fetch.message.max.bytes": "4096", "fetch.max.bytes": "4096"}

QUIET_S = 0.1
"""Short: the first client receives as much as it can until then, 20 MB a second on a fast machine."""


class CountingPositions(FetchPositions):
    """Counts, too, what a client has received."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[str] = []

    def _on_statistics(self, text: str) -> None:
        self.reports.append(text)
        super()._on_statistics(text)


@pytest.fixture(scope="module")
def aborted(broker) -> TopicPartition:
    """A partition with a visible record, many records of one aborted transaction, and another visible one."""
    broker.create_topic("aborted", 1)
    producer = transactional_producer(broker.bootstrap_servers, "aborted", **SMALL)
    for records, end in (
        (1, producer.commit_transaction),
        (ABORTED, producer.abort_transaction),
        (1, producer.commit_transaction),
    ):
        producer.begin_transaction()
        for _ in range(records):
            producer.produce("aborted", b"v" * BYTES)
        flush(producer)
        retried(end)
    wait_for_markers(broker.bootstrap_servers, "aborted")
    return TopicPartition("aborted", 0)


class Reading:
    """One read of a range, and the consumers that it uses."""

    def __init__(self, servers: str) -> None:
        self._client = Properties({"bootstrap.servers": servers, "statistics.interval.ms": "20", **SLOW})
        self.consumer = new_consumer(self._client)
        self.positions: list[CountingPositions] = []

    def offsets(self, range_: OffsetRange, timeouts: FetchTimeouts) -> list[int]:
        fetched = fetch(
            self.consumer, Split((range_,)), SplitMetrics(), timeouts=timeouts, new_follower=self._new_follower
        )
        return [message.offset() for messages in fetched for message in messages.items]

    def received_bytes(self) -> int:
        _, first = self.consumer.statistics.latest()
        return first["rx_bytes"] + sum(json.loads(each.reports[-1])["rx_bytes"] for each in self.positions)

    def _new_follower(self) -> KafkaConsumer:
        self.positions.append(CountingPositions())
        return new_consumer(self._client, self.positions[-1])


@pytest.fixture
def reading(broker):
    made = Reading(broker.bootstrap_servers)
    yield made
    made.consumer.close()


def test_the_end_of_a_range_without_visible_messages_is_noticed_before_the_end_of_the_log(aborted, reading):
    middle = OffsetRange(aborted, 1_000, 3_000)

    assert reading.offsets(middle, FetchTimeouts(quiet_s=QUIET_S)) == []

    # Up to the next visible message it would be 39 MB
    assert len(reading.positions) == 1
    assert len(middle) * BYTES < reading.received_bytes() < ABORTED * BYTES // 2


def test_a_read_that_receives_only_aborted_messages_is_not_told_to_be_stuck(aborted, reading):
    whole = OffsetRange(aborted, 0, ABORTED + 4)

    found = reading.offsets(whole, FetchTimeouts(stall_s=1.5, quiet_s=QUIET_S))

    assert found == [0, ABORTED + 3]
