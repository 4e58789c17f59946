"""Ranges get what the plan of their micro-batch knows of their logs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from millrace.checkpoint import StreamOffset
from millrace.contracts import TopicPartition
from millrace.source.enumerator.stream_logs import with_logs
from millrace.source.splits import OffsetRange, Split, StreamLog

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
END = StreamOffset({A0: 20, A1: 5}, topic_ids={"a": "id-of-a"}, owner="stream", leader_epochs={A0: 3, A1: 4})
SPLITS = [Split((OffsetRange(A0, 0, 10),)), Split((OffsetRange(A0, 10, 20), OffsetRange(A1, 0, 5)))]


def logs(end: StreamOffset = END, **known: object) -> list[StreamLog | None]:
    arguments = {"available": {}, "value_bytes": {}, **known}
    return [each.log for split in with_logs(SPLITS, end, **arguments) for each in split.ranges]


def test_a_range_has_the_id_and_the_epoch_of_its_log() -> None:
    assert [(log.stream, log.topic_id, log.leader_epoch) for log in logs()] == [
        ("stream", "id-of-a", 3),
        ("stream", "id-of-a", 3),
        ("stream", "id-of-a", 4),
    ]


def test_the_next_micro_batch_goes_on_behind_the_last_range_of_a_partition() -> None:
    assert [log.is_last for log in logs()] == [False, True, True]


def test_logs_go_on_behind_a_limit() -> None:
    assert [log.goes_on for log in logs(available={A0: 21, A1: 5})] == [True, True, False]
    # A micro-batch that is repeated comes before the first look
    assert not any(log.goes_on for log in logs())


def test_the_size_of_values_is_that_of_the_partition_where_it_is_known() -> None:
    guess = StreamLog("", "", 0).value_bytes
    assert [log.value_bytes for log in logs(value_bytes={A1: 7.5})] == [guess, guess, 7.5]


@pytest.mark.parametrize(
    "end",
    [replace(END, owner=""), replace(END, topic_ids={}), replace(END, leader_epochs={})],
    ids=["stream", "id", "epoch"],
)
def test_a_log_that_could_be_another_one_is_none(end: StreamOffset) -> None:
    assert logs(end) == [None, None, None]


def test_what_is_known_of_logs_makes_no_other_splits() -> None:
    assert with_logs(SPLITS, END, {}, {}) == SPLITS
