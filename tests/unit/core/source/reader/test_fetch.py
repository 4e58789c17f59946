"""The fetch loop against a script of what a consumer hands out; real brokers are in the integration tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import pytest
from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, DataLossError, UnknownTopicError
from millrace.kafka.client_log import ClientLog
from millrace.kafka.consumer import KafkaConsumer
from millrace.kafka.statistics import FetchPositions
from millrace.records.messages import Messages
from millrace.source.data_loss_messages import DATA_LOSS_HINT
from millrace.source.reader.fetch import BATCH_BYTES, FIRST_BATCH_MESSAGES, fetch
from millrace.source.reader.fetch_timeouts import FetchTimeouts
from millrace.source.reader.polling import FEW_MESSAGES, MAX_BATCH_MESSAGES, POLL_TIMEOUT_S
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from support.waiting import PATIENCE_S

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


class Script:
    """A consumer of batches, one after the other, and then of nothing."""

    def __init__(self, *batches: list[Message], again: list[Message] | None = None) -> None:
        self.batches: Iterator[list[Message]] = iter(batches)
        self.again = again
        self.log: tuple[int, int] | KafkaException = 2, 5
        self.asked: list[int] = []
        self.timeouts_s: list[float] = []
        self.assigned: list[tuple[str, int, int]] = []
        self.unassigned: list[set[tuple[str, int]]] = []

    def assign(self, partitions: list[ClientPartition]) -> None:
        self.assigned = [(found.topic, found.partition, found.offset) for found in partitions]

    def incremental_unassign(self, partitions: list[ClientPartition]) -> None:
        gone = {(found.topic, found.partition) for found in partitions}
        assert gone <= {found[:2] for found in self.assigned}
        self.unassigned.append(gone)
        self.assigned = [found for found in self.assigned if found[:2] not in gone]

    def incremental_assign(self, partitions: list[ClientPartition]) -> None:
        self.assigned_again = [(found.topic, found.partition, found.offset) for found in partitions]
        if self.again:
            self.batches = chain([self.again], self.batches)

    def unassign(self) -> None:
        self.assigned = []

    def close(self) -> None:
        self.assigned = []

    def consume(self, count: int, timeout: float) -> list[Message]:
        self.asked.append(count)
        self.timeouts_s.append(timeout)
        return next(self.batches, [])

    def get_watermark_offsets(self, partition: ClientPartition, timeout: float) -> tuple[int, int]:
        if isinstance(self.log, KafkaException):
            raise self.log
        return self.log


def record(offset: int, partition: TopicPartition = A0) -> Message:
    return Message(topic=partition.topic, partition=partition.partition, offset=offset, value=b"v")


def failure(code: int, offset: int = -1, partition: TopicPartition = A0) -> Message:
    error = KafkaError(code, "boo")
    return Message(topic=partition.topic, partition=partition.partition, offset=offset, error=error)


def eof(offset: int, partition: TopicPartition = A0) -> Message:
    return failure(KafkaError._PARTITION_EOF, offset, partition)


PATIENT = FetchTimeouts(early_end_s=PATIENCE_S, stall_s=PATIENCE_S)
LOSES_SOON = replace(PATIENT, early_end_s=0.02)
"""For logs that have lost something; all others may be read as slowly as the machine does it."""


def run(
    script: Script,
    *ranges: tuple[TopicPartition, int, int],
    metrics: SplitMetrics | None = None,
    fail: bool = True,
    timeouts: FetchTimeouts = PATIENT,
) -> Iterator[Messages]:
    split = Split(tuple(OffsetRange(*found) for found in ranges))
    consumer = KafkaConsumer(script, ClientLog())
    return fetch(consumer, split, metrics or SplitMetrics(), fail_on_data_loss=fail, timeouts=timeouts)


def offsets(fetched: Iterator[Messages]) -> list[tuple[TopicPartition, list[int]]]:
    return [(found.partition, [message.offset() for message in found.items]) for found in fetched]


def test_a_range_is_read_to_its_end() -> None:
    script = Script([record(3), record(4)], [record(5)])
    assert offsets(run(script, (A0, 3, 6))) == [(A0, [3, 4]), (A0, [5])]
    assert script.asked == [3, 1]


def test_an_empty_split_asks_for_nothing() -> None:
    assert offsets(run(Script())) == []


def test_partitions_are_assigned_at_their_starts_and_given_back() -> None:
    script = Script([record(3)], [record(8, A1)])
    fetched = run(script, (A0, 3, 4), (A1, 8, 9))
    next(fetched)
    assert script.assigned == [("a", 0, 3), ("a", 1, 8)]
    list(fetched)
    assert script.assigned == []


def test_a_small_split_unassigns_nothing_when_the_next_poll_ends_it() -> None:
    script = Script([record(3)], [record(8, A1)])
    list(run(script, (A0, 3, 4), (A1, 8, 9)))
    assert script.unassigned == []


def test_a_partition_that_finished_before_the_last_poll_is_unassigned() -> None:
    script = Script([record(3)], [record(8, A1)], [record(9, A1)], [record(10, A1)])
    fetched = run(script, (A0, 3, 4), (A1, 8, 11))
    next(fetched)
    assert script.unassigned == []
    next(fetched)
    assert script.unassigned == [{("a", 0)}]
    list(fetched)
    assert script.unassigned == [{("a", 0)}]


def test_a_partition_of_a_large_split_is_unassigned_as_soon_as_it_finishes() -> None:
    many = [record(offset, A1) for offset in range(FEW_MESSAGES)]
    script = Script(many, [record(3), record(FEW_MESSAGES, A1)], [record(FEW_MESSAGES + 1, A1)])
    fetched = run(script, (A0, 3, 4), (A1, 0, 10 * FEW_MESSAGES))
    next(fetched)
    next(fetched)
    assert script.unassigned == [{("a", 0)}]


def test_partitions_are_given_back_when_nobody_reads_on() -> None:
    script = Script([record(3)])
    fetched = run(script, (A0, 3, 9))
    next(fetched)
    fetched.close()
    assert script.assigned == []


def test_what_is_beyond_the_end_is_left_out() -> None:
    assert offsets(run(Script([record(3), record(4), record(5)]), (A0, 3, 5))) == [(A0, [3, 4])]


def test_a_gap_at_the_end_is_ended_by_a_later_record() -> None:
    assert offsets(run(Script([record(3), record(9)]), (A0, 3, 6))) == [(A0, [3])]


def test_a_gap_at_the_end_is_ended_by_the_end_of_the_partition() -> None:
    assert offsets(run(Script([record(3), eof(6)]), (A0, 3, 6))) == [(A0, [3])]


def test_a_range_of_nothing_but_gaps_has_no_messages() -> None:
    assert offsets(run(Script([eof(6)]), (A0, 3, 6))) == []


def test_messages_of_several_partitions_are_told_apart() -> None:
    script = Script([record(3), record(0, A1), record(4), record(1, A1)])
    fetched = list(run(script, (A0, 3, 5), (A1, 0, 2)))
    assert offsets(iter(fetched)) == [(A0, [3, 4]), (A1, [0, 1])]


SURPLUS = [record(3), record(4), record(5), record(6)]
"""Of a range that ends at offset 5, and as many as two such ranges have together."""


def test_messages_behind_surplus_ones_are_taken_with_one_poll() -> None:
    script = Script(SURPLUS, [record(0, A1), record(1, A1), record(2, A1)])
    assert offsets(run(script, (A0, 3, 5), (A1, 0, 2))) == [(A0, [3, 4]), (A1, [0, 1])]
    assert script.asked == [4, FEW_MESSAGES]
    assert script.timeouts_s == [POLL_TIMEOUT_S, 0]


def test_messages_that_are_not_behind_surplus_ones_are_waited_for() -> None:
    script = Script(SURPLUS, [], [], [record(0, A1), record(1, A1)])
    assert offsets(run(script, (A0, 3, 5), (A1, 0, 2))) == [(A0, [3, 4]), (A1, [0, 1])]
    assert script.asked == [4, FEW_MESSAGES, 2, 2]
    assert script.timeouts_s == [POLL_TIMEOUT_S, 0, POLL_TIMEOUT_S, POLL_TIMEOUT_S]


def test_late_messages_of_a_partition_that_is_done_are_not_taken_for_anothers() -> None:
    script = Script([record(3), record(0, A1)], [record(4), record(5), record(1, A1)])
    assert offsets(run(script, (A0, 3, 4), (A1, 0, 2))) == [(A0, [3]), (A1, [0]), (A1, [1])]


def test_an_end_of_the_partition_that_comes_early_is_waited_out() -> None:
    assert offsets(run(Script([eof(3)], [], [record(3)]), (A0, 3, 4))) == [(A0, [3])]


@pytest.mark.parametrize("batches", [[[eof(5)]], [[record(3), record(4)], [eof(5)]], [[record(3), record(4), eof(5)]]])
def test_an_end_that_stays_early_is_data_loss(batches: list[list[Message]]) -> None:
    with pytest.raises(DataLossError, match=r"^a-0: offsets \d to 8 were to be read, but the log holds 2 to 4\."):
        list(run(Script(*batches, again=[eof(5)]), (A0, 3, 9), timeouts=LOSES_SOON))


def test_an_end_that_stays_early_is_data_loss_though_another_partition_goes_on() -> None:
    with pytest.raises(DataLossError, match=r"^a-0: offsets 3 to 8 were to be read"):
        list(
            run(
                Script([eof(3)], [record(0, A1)], [record(1, A1)], again=[eof(3)]),
                (A0, 3, 9),
                (A1, 0, 2),
                timeouts=LOSES_SOON,
            )
        )


@pytest.mark.parametrize("code", [KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE])
def test_offsets_that_are_gone_are_data_loss(code: int) -> None:
    with pytest.raises(DataLossError) as error:
        list(run(Script([failure(code)]), (A0, 0, 9)))
    assert str(error.value) == (
        "a-0: offsets 0 to 8 were to be read, but the log holds 2 to 4. They were deleted by retention, or the topic "
        f"was created again. {DATA_LOSS_HINT}"
    )


def test_on_request_what_is_gone_is_skipped_with_a_warning_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    script, metrics = Script([failure(KafkaError._AUTO_OFFSET_RESET)], [record(2), record(3), eof(5)]), SplitMetrics()
    fetched = run(script, (A0, 0, 5), metrics=metrics, fail=False)
    assert offsets(fetched) == [(A0, [2, 3])]
    assert script.assigned_again == [("a", 0, 2)]
    assert (metrics.counts[A0].skipped, metrics.counts[A0].records) == (2, 2)
    assert caplog.messages == [
        "data is lost: a-0: offsets 0 to 4 were to be read, but the log holds 2 to 4; 2 offsets are skipped"
    ]


@pytest.mark.parametrize("lost", [eof(5), failure(KafkaError.OFFSET_OUT_OF_RANGE)], ids=["ends early", "out of range"])
def test_on_request_a_log_that_ends_early_is_left(lost: Message) -> None:
    script, metrics = Script([lost], [record(0, A1)]), SplitMetrics()
    fetched = run(script, (A0, 5, 9), (A1, 0, 1), metrics=metrics, fail=False, timeouts=LOSES_SOON)
    assert offsets(fetched) == [(A1, [0])]
    assert metrics.counts[A0].skipped == 4


def test_a_topic_that_a_broker_did_not_know_for_a_moment_is_read_on() -> None:
    script, metrics = Script([failure(KafkaError.UNKNOWN_TOPIC_OR_PART)], [], [record(3)]), SplitMetrics()
    assert offsets(run(script, (A0, 3, 4), metrics=metrics, fail=False)) == [(A0, [3])]
    assert metrics.counts[A0].skipped == 0


@pytest.mark.parametrize("fail", [True, False])
def test_offsets_that_are_there_after_all_are_read(fail: bool) -> None:
    script = Script([failure(KafkaError.OFFSET_OUT_OF_RANGE)], again=[record(3), record(4)])
    assert offsets(run(script, (A0, 3, 5), fail=fail)) == [(A0, [3, 4])]
    assert script.assigned_again == [("a", 0, 3)]


@pytest.mark.parametrize("fail", [True, False])
def test_a_log_that_ends_early_for_a_moment_is_read_on(caplog: pytest.LogCaptureFixture, fail: bool) -> None:
    script, metrics = Script([failure(KafkaError._AUTO_OFFSET_RESET)], again=[record(6), record(7)]), SplitMetrics()
    fetched = run(script, (A0, 6, 8), metrics=metrics, fail=fail)
    threading.Timer(0.05, lambda: setattr(script, "log", (2, 8))).start()
    assert offsets(fetched) == [(A0, [6, 7])]
    assert script.assigned_again == [("a", 0, 6)]
    assert (metrics.counts[A0].skipped, caplog.messages) == (0, [])


def test_a_log_that_cannot_be_looked_at_for_a_moment_is_looked_at_again() -> None:
    script = Script([failure(KafkaError._AUTO_OFFSET_RESET)], again=[record(2), eof(5)])
    script.log = KafkaException(KafkaError(KafkaError._TRANSPORT))
    fetched = run(script, (A0, 0, 5), fail=False, timeouts=LOSES_SOON)
    timer = threading.Timer(0.05, lambda: setattr(script, "log", (2, 5)))
    timer.start()
    assert offsets(fetched) == [(A0, [2])]


def test_on_request_a_topic_that_is_gone_is_left() -> None:
    script, metrics = Script([failure(KafkaError.UNKNOWN_TOPIC_OR_PART)]), SplitMetrics()
    script.log = KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
    assert offsets(run(script, (A0, 3, 9), metrics=metrics, fail=False, timeouts=LOSES_SOON)) == []
    assert metrics.counts[A0].skipped == 6


def test_what_was_read_is_counted_by_partition() -> None:
    metrics = SplitMetrics()
    list(run(Script([record(3), record(0, A1)], [record(4)]), (A0, 3, 5), (A1, 0, 1), metrics=metrics))
    assert {partition: (count.records, count.bytes) for partition, count in metrics.counts.items()} == {
        A0: (2, 2),
        A1: (1, 1),
    }


def test_a_connection_that_breaks_is_waited_out() -> None:
    assert offsets(run(Script([failure(KafkaError._TRANSPORT)], [record(3)]), (A0, 3, 4))) == [(A0, [3])]


def test_a_refusal_is_told_with_what_was_read() -> None:
    with pytest.raises(ClientError) as error:
        list(run(Script([record(3), failure(KafkaError.TOPIC_AUTHORIZATION_FAILED)]), (A0, 3, 9)))
    assert str(error.value) == "reading a-0 [3, 9) failed: boo (TOPIC_AUTHORIZATION_FAILED)"


def test_a_topic_that_is_gone_is_told_as_such() -> None:
    with pytest.raises(UnknownTopicError, match=r"^reading a-0 \[3, 9\) failed"):
        list(run(Script([failure(KafkaError.UNKNOWN_TOPIC_OR_PART)]), (A0, 3, 9)))


def test_what_was_read_before_a_failure_is_handed_on() -> None:
    fetched = run(Script([record(3), failure(KafkaError.TOPIC_AUTHORIZATION_FAILED)]), (A0, 3, 9))
    assert [message.offset() for message in next(fetched).items] == [3]


def test_errors_of_partitions_that_are_done_do_not_matter() -> None:
    script = Script([record(3)], [failure(KafkaError.OFFSET_OUT_OF_RANGE), record(0, A1)])
    assert offsets(run(script, (A0, 3, 4), (A1, 0, 1))) == [(A0, [3]), (A1, [0])]


def test_silence_is_told_with_what_is_left() -> None:
    with pytest.raises(ClientError) as error:
        list(run(Script([record(3)]), (A0, 3, 9), (A1, 0, 1), timeouts=replace(PATIENT, stall_s=0.2)))
    assert str(error.value).startswith("reading a-0 [4, 9), a-1 [0, 1): no message for 0 s")
    assert str(error.value).endswith(
        "Check that the brokers are running, and that their advertised.listeners can be reached from this machine"
    )


def test_large_messages_are_asked_for_in_small_batches() -> None:
    size = 1 << 20
    large = Message(topic="a", partition=0, offset=0, value=b"v" * size)
    script = Script([large], [record(offset) for offset in range(1, 1000)])
    list(run(script, (A0, 0, 1000)))
    assert script.asked == [FIRST_BATCH_MESSAGES, BATCH_BYTES // size]


def test_small_messages_are_asked_for_in_large_batches() -> None:
    script = Script([record(0)], [record(offset) for offset in range(1, 100_000)])
    list(run(script, (A0, 0, 100_000)))
    assert script.asked == [FIRST_BATCH_MESSAGES, MAX_BATCH_MESSAGES]


def test_a_range_is_not_ended_by_a_report_while_messages_may_wait_behind_errors() -> None:
    positions = FetchPositions()

    def report() -> list[Message]:
        partition = {"next_offset": 9, "fetch_state": "active"}
        positions._on_statistics(json.dumps({"topics": {"a": {"partitions": {"1": partition}}}}))
        return []

    script = Script([record(3)], report(), [eof(4)], [record(8, A1)])
    split = Split((OffsetRange(A0, 3, 4), OffsetRange(A1, 8, 9)))
    fetched = fetch(KafkaConsumer(script, ClientLog(), positions=positions), split, SplitMetrics())
    assert offsets(fetched) == [(A0, [3]), (A1, [8])]
