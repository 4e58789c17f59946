"""Offsets of timestamps, and which upper bounds are trusted."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.log_times import BrokerTimes

PARTITION = TopicPartition("a", 0)
GREATEST = 2**63 - 1


class Broker:
    """A log with a record of each millisecond up to 100, at the offset of its time."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def offsets_for_timestamp(
        self, partitions: Collection[TopicPartition], millis: int
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Answer as a client does, which has no greater integers."""
        millis.to_bytes(8, signed=True)
        self.asked.append(millis)
        return dict.fromkeys(partitions, (millis, millis) if millis <= 100 else (-1, -1))


def times(broker: Broker, max_disorder_ms: int | None) -> BrokerTimes:
    return BrokerTimes(cast("KafkaAdmin", broker), max_disorder_ms)


def test_an_upper_bound_is_of_use_only_if_the_user_says_how_far_timestamps_go_back() -> None:
    broker = Broker()
    assert times(broker, None).end_before({PARTITION: 90}, 10) == {}
    # Who sets timestamps now has not always set them
    assert broker.asked == []
    assert times(broker, 5).end_before({PARTITION: 90}, 10) == {PARTITION: 15}


def test_no_record_is_later_than_the_greatest_timestamp() -> None:
    broker = Broker()
    assert times(broker, None).first_at([PARTITION], GREATEST + 1) == {}
    assert times(broker, 1).end_before({PARTITION: 90}, GREATEST) == {}
    assert times(broker, None).first_at([PARTITION], GREATEST) == {}
    assert broker.asked == [GREATEST]
