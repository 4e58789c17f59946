from __future__ import annotations

import itertools
import json
from typing import Any, cast

import pytest

from millrace.checkpoint import StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError
from millrace.source.enumerator.gone_topics import KEPT_DAYS, MAX_KEPT_PARTITIONS, still_gone
from millrace.source.enumerator.planner import Planner
from support.log import Log

A0, B0, B1 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1)
NOW, DAY_S = 1_795_000_000, 24 * 60 * 60
LENIENT = {"scan.fail-on-data-loss": "false"}


class Stream:
    """A stream of all topics, each micro-batch of which is planned by another process."""

    def __init__(self, log: Log, **options: str) -> None:
        self.log, self.now, self._options = log, NOW, {**LENIENT, **options}
        self.offset = StreamOffset({}, owner="me")

    def go_on(self, **options: str) -> StreamOffset:
        given = {"properties.bootstrap.servers": "h:1", "topic-pattern": ".*", **self._options, **options}
        seconds, cluster = itertools.count(), cast("Any", self.log)
        planner = Planner(
            configure_source(given),
            cluster,
            cluster,
            clock=lambda: next(seconds),
            pause=lambda _: None,
            wall_clock=lambda: self.now,
        )
        available = planner.available(StreamOffset.from_json(json.loads(json.dumps(self.offset.to_json()))))
        self.offset = planner.next_end(self.offset, available, draining=True)
        return self.offset


@pytest.fixture
def log() -> Log:
    log = Log({A0: (0, 5), B0: (10, 100), B1: (0, 7)})
    log.leader_epochs = {A0: 1, B0: 3, B1: 5}
    return log


@pytest.fixture
def stream(log: Log) -> Stream:
    """A stream that has read all three, and whose topic b is not there any more."""
    stream = Stream(log)
    stream.go_on()
    del log.logs[B0], log.logs[B1]
    assert stream.go_on().positions == {A0: 5}
    return stream


def test_a_topic_that_comes_back_is_read_on_from_where_it_was(
    log: Log, stream: Stream, caplog: pytest.LogCaptureFixture
) -> None:
    log.logs[A0] = (0, 6)
    stream.go_on()
    log.logs |= {B0: (10, 120), B1: (0, 7)}
    back = stream.go_on()
    assert (back.positions, back.start_overrides) == ({A0: 6, B0: 120, B1: 7}, {B0: 100, B1: 7})
    assert back.topic_ids == {"a": "id of a", "b": "id of b"}
    assert "gone" not in back.to_json()
    assert caplog.messages[-2:] == [
        "b-0 is there again, and is read from offset 100, where it was left",
        "b-1 is there again, and is read from offset 7, where it was left",
    ]
    assert stream.go_on() == back


def test_a_topic_that_was_made_again_in_the_meantime_is_a_new_one(log: Log, stream: Stream) -> None:
    log.logs[B0], log.ids["b"] = (0, 300), "another"
    back = stream.go_on()
    assert (back.positions, back.start_overrides) == ({A0: 5, B0: 300}, {B0: 0})
    # Of the old one there is nothing left, not even of the partition that the new one lacks
    assert back.gone.positions == {B1: 7}
    log.logs[B1] = (0, 4)
    assert stream.go_on().start_overrides == {B1: 0}


@pytest.mark.parametrize("ids", [True, False], ids=["an id that is known", "old brokers"])
def test_records_that_were_deleted_in_the_meantime_are_lost(log: Log, stream: Stream, *, ids: bool) -> None:
    if not ids:
        stored = stream.offset.to_json()
        del stored["gone"]["ids"]
        stream.offset = StreamOffset.from_json(stored)
    log.logs |= {B0: (110, 120), B1: (0, 7)}
    before = stream.offset
    with pytest.raises(
        DataLossError, match=r"b-0 wants offset 100, and the log now holds 110 to 119: records were del"
    ):
        stream.go_on(**{"scan.fail-on-data-loss": "true"})
    stream.offset = before
    assert stream.go_on().start_overrides == {B0: 110, B1: 7}


def test_a_log_that_was_truncated_in_the_meantime_is_noticed(log: Log, stream: Stream) -> None:
    log.logs |= {B0: (10, 120), B1: (0, 7)}
    log.leader_epochs[B0], log.truncated = 4, {B0: 80}
    assert stream.go_on().start_overrides == {B0: 80, B1: 7}


def test_positions_are_kept_for_days(log: Log, stream: Stream) -> None:
    stream.now = NOW + KEPT_DAYS * DAY_S - 1
    log.logs[A0] = (0, 6)
    assert stream.go_on().gone.positions == {B0: 100, B1: 7}
    stream.now += 1
    log.logs[A0] = (0, 7)
    assert "gone" not in stream.go_on().to_json()


def test_that_positions_are_forgotten_is_no_reason_for_a_micro_batch(stream: Stream) -> None:
    stream.now = NOW + 2 * KEPT_DAYS * DAY_S
    before = stream.offset
    assert stream.go_on() is before


def test_of_very_many_partitions_the_last_that_went_are_kept() -> None:
    before = StreamOffset({TopicPartition("old", n): 1 for n in range(MAX_KEPT_PARTITIONS)})
    gone = still_gone(before, {}, NOW)
    assert len(gone.positions) == MAX_KEPT_PARTITIONS
    later = still_gone(StreamOffset({B0: 1}, gone=gone), {}, NOW + 1)
    assert len(later.positions) == MAX_KEPT_PARTITIONS
    assert B0 in later.positions


def test_a_bounded_stream_reads_a_topic_that_comes_back_to_where_it_was_to_stop(log: Log) -> None:
    stream = Stream(log)
    stops = {A0: 5, B0: 110, B1: 7}
    stream.offset = StreamOffset({A0: 0, B0: 10, B1: 0}, stopping_offsets=stops, owner="me")
    stream.go_on()
    del log.logs[B0], log.logs[B1]
    assert stream.go_on().positions == {A0: 5}
    log.logs |= {B0: (10, 120), B1: (0, 9)}
    assert stream.go_on().positions == {A0: 5, B0: 110, B1: 7}


def test_a_bounded_stream_reads_nothing_of_a_topic_that_was_made_again(log: Log) -> None:
    stream = Stream(log)
    stream.offset = StreamOffset({A0: 0, B0: 10}, stopping_offsets={A0: 5, B0: 110}, owner="me")
    stream.go_on()
    del log.logs[B0], log.logs[B1]
    stream.go_on()
    log.logs[B0], log.ids["b"] = (20, 120), "another"
    assert stream.go_on().positions[B0] == 20
    assert stream.go_on().positions[B0] == 20
    assert stream.offset.is_bounded
