"""Messages that a task has fetched behind its ranges are there for the tasks that go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.kafka.client_log import ClientLog
from millrace.kafka.consumer import KafkaConsumer
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.reader import fetched_ahead
from millrace.source.reader.fetch import fetch
from millrace.source.reader.kept_messages import MIN_BYTES, KeptMessages
from millrace.source.reader.polling import FEW_MESSAGES
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split, StreamLog

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
LOG = StreamLog("stream", "id-of-a", 3)


def record(offset: int, partition: TopicPartition = A0) -> Message:
    return Message(topic=partition.topic, partition=partition.partition, offset=offset, value=bytes(MIN_BYTES))


def records(start: int, end: int, partition: TopicPartition = A0) -> list[Message]:
    return [record(offset, partition) for offset in range(start, end)]


def failure(code: int, partition: TopicPartition = A0) -> Message:
    return Message(topic=partition.topic, partition=partition.partition, error=KafkaError(code, "boo"))


class Fetched:
    """A client with answers of a broker, one after the other; the next one comes when a partition is assigned.

    Messages of partitions that are taken away are dropped, as the client does it.
    """

    def __init__(self, *answers: Sequence[Message]) -> None:
        self.answers = [list(answer) for answer in answers]
        self.queue: list[Message] = []
        self.assigned: list[tuple[str, int, int]] = []

    def assign(self, partitions: list[ClientPartition]) -> None:
        self.assigned += [(each.topic, each.partition, each.offset) for each in partitions]
        self.queue = self.answers.pop(0)

    def incremental_assign(self, partitions: list[ClientPartition]) -> None:
        self.assigned += [(each.topic, each.partition, each.offset) for each in partitions]
        self.queue += self.answers.pop(0)

    def incremental_unassign(self, partitions: list[ClientPartition]) -> None:
        gone = {(each.topic, each.partition) for each in partitions}
        self.queue = [each for each in self.queue if (each.topic(), each.partition()) not in gone]

    def unassign(self) -> None:
        self.queue = []

    def consume(self, count: int, timeout: float) -> list[Message]:
        taken, self.queue = self.queue[:count], self.queue[count:]
        return taken


@pytest.fixture
def store(tmp_path: Path) -> KeptMessages:
    return KeptMessages(tmp_path / "kept", Properties({"bootstrap.servers": "127.0.0.1:1"}))


def range_of(start: int, end: int, partition: TopicPartition = A0, log: StreamLog | None = LOG) -> OffsetRange:
    return OffsetRange(partition, start, end, log)


def read(
    store: KeptMessages, client: Fetched, *ranges: OffsetRange, singly: bool = False
) -> list[tuple[TopicPartition, list[int]]]:
    consumer, metrics = KafkaConsumer(client, ClientLog()), SplitMetrics()
    fetched = fetch(consumer, Split(ranges), metrics, fetches_singly=singly, store=store)
    found: dict[TopicPartition, list[int]] = {}
    for messages in fetched:
        found.setdefault(messages.partition, []).extend(each.offset() for each in messages.items)
    assert {each: metrics.counts[each].records for each in found} == {each: len(found[each]) for each in found}
    return sorted(found.items())


def test_the_next_micro_batch_fetches_nothing_again(store: KeptMessages) -> None:
    assert read(store, Fetched(records(0, 8)), range_of(0, 3)) == [(A0, [0, 1, 2])]
    unused = Fetched()
    assert read(store, unused, range_of(3, 6)) == [(A0, [3, 4, 5])]
    assert read(store, unused, range_of(6, 8)) == [(A0, [6, 7])]
    assert unused.assigned == []


def test_a_range_that_goes_on_behind_is_fetched_from_there(store: KeptMessages) -> None:
    read(store, Fetched(records(0, 5)), range_of(0, 3))
    client = Fetched(records(5, 9))
    assert read(store, client, range_of(3, 7)) == [(A0, [3, 4, 5, 6])]
    assert client.assigned == [("a", 0, 5)]
    assert read(store, Fetched(), range_of(7, 9)) == [(A0, [7, 8])]


def test_a_fetch_is_under_way_while_kept_messages_are_read(store: KeptMessages) -> None:
    read(store, Fetched(records(0, 5)), range_of(0, 3))
    client = Fetched(records(5, 9))
    fetched = fetch(KafkaConsumer(client, ClientLog()), Split((range_of(3, 7),)), SplitMetrics(), store=store)
    assert [each.offset() for each in next(fetched).items] == [3, 4]
    assert client.assigned == [("a", 0, 5)]


def test_each_partition_keeps_what_is_behind_its_range(store: KeptMessages) -> None:
    client = Fetched([*records(0, 8), *records(0, 6, A1)])
    assert read(store, client, range_of(0, 3), range_of(0, 2, A1)) == [(A0, [0, 1, 2]), (A1, [0, 1])]
    assert read(store, Fetched(), range_of(2, 6, A1)) == [(A1, [2, 3, 4, 5])]
    assert read(store, Fetched(), range_of(3, 8)) == [(A0, [3, 4, 5, 6, 7])]


def test_a_partition_of_which_more_may_come_is_not_taken_away(store: KeptMessages) -> None:
    # One poll ends within what was fetched of the first partition
    count = 3 * FEW_MESSAGES
    client = Fetched([*records(0, count), *records(0, count, A1)])
    read(store, client, range_of(0, 1), range_of(0, count - 1, A1))
    assert store.find(range_of(1, 2)).end == count


def test_a_repeated_micro_batch_is_read_alike(store: KeptMessages) -> None:
    read(store, Fetched(records(0, 8)), range_of(0, 3))
    for _ in range(2):
        assert read(store, Fetched(records(5, 8)), range_of(3, 6)) == [(A0, [3, 4, 5])]


def test_a_query_that_goes_back_reads_from_the_broker(store: KeptMessages) -> None:
    read(store, Fetched(records(0, 8)), range_of(0, 3))
    client = Fetched(records(1, 8))
    assert read(store, client, range_of(1, 4)) == [(A0, [1, 2, 3])]
    assert client.assigned == [("a", 0, 1)]


@pytest.mark.parametrize(
    "log",
    [replace(LOG, topic_id="id-of-another-a"), replace(LOG, leader_epoch=4), None],
    ids=["topic", "epoch", "none"],
)
def test_messages_of_another_log_are_not_read(store: KeptMessages, log: StreamLog | None) -> None:
    read(store, Fetched(records(0, 8)), range_of(0, 3))
    client = Fetched(records(3, 8))
    read(store, client, range_of(3, 6, log=log))
    assert client.assigned == [("a", 0, 3)]


@pytest.mark.parametrize("log", [None, replace(LOG, is_last=False)], ids=["batch", "followed by another task"])
def test_where_no_micro_batch_goes_on_nothing_is_kept(store: KeptMessages, log: StreamLog | None) -> None:
    read(store, Fetched(records(0, 8)), range_of(0, 3, log=log))
    assert store.find(range_of(3, 6)) is None


@pytest.mark.parametrize("place", [3, 5])
def test_behind_a_failure_nothing_is_kept(store: KeptMessages, place: int) -> None:
    answer = [*records(0, place), failure(KafkaError._BAD_MSG), *records(place + 1, 9)]
    assert read(store, Fetched(answer), range_of(0, 3)) == [(A0, [0, 1, 2])]
    assert store.find(range_of(3, 6)) is None


def test_the_end_of_a_partition_is_no_failure(store: KeptMessages) -> None:
    read(store, Fetched([*records(0, 5), failure(KafkaError._PARTITION_EOF)]), range_of(0, 3))
    assert store.find(range_of(3, 5)).end == 5


def test_a_failure_of_one_partition_leaves_the_others(store: KeptMessages) -> None:
    answer = [*records(0, 5), failure(KafkaError._BAD_MSG), *records(5, 7), *records(0, 8, A1)]
    read(store, Fetched(answer), range_of(0, 3), range_of(0, 3, A1))
    assert store.find(range_of(3, 5)) is None
    assert store.find(range_of(3, 5, A1)).end == 8


def test_a_read_that_is_abandoned_keeps_nothing(store: KeptMessages) -> None:
    fetched = fetch(
        KafkaConsumer(Fetched(records(0, 900)), ClientLog()), Split((range_of(0, 800),)), SplitMetrics(), store=store
    )
    next(fetched)
    fetched.close()
    assert store.find(range_of(800, 900)) is None


def test_a_consumer_that_fetches_singly_is_asked_for_more(store: KeptMessages) -> None:
    count = 2 * FEW_MESSAGES
    client = Fetched(records(0, count), records(count, 3 * count))
    assert read(store, client, range_of(0, 2 * count), singly=True) == [(A0, list(range(2 * count)))]
    assert client.assigned == [("a", 0, 0), ("a", 0, count)]
    assert store.find(range_of(2 * count, 3 * count)).end == 3 * count


def test_a_task_collects_no_more_than_its_size(store: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched_ahead, "MAX_BYTES", 3 * MIN_BYTES)
    ahead = fetched_ahead.FetchedAhead(store, [range_of(0, 1), range_of(0, 1, A1)])
    ahead.add(Messages(A0, records(1, 3)))
    ahead.add(Messages(A1, records(1, 4, A1)))
    ahead.keep()
    assert store.find(range_of(1, 2)).end == 3
    assert store.find(range_of(1, 2, A1)) is None
