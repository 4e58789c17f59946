from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any, cast

import pytest

from millrace.checkpoint import StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError
from millrace.source.enumerator.planner import Planner
from millrace.source.enumerator.truncation_detection import EpochPosition, TruncationDetector
from support.log import Log

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


@pytest.fixture
def log() -> Log:
    log = Log({A0: (10, 100), A1: (0, 7)})
    log.leader_epochs = {A0: 3, A1: 5}
    return log


def plan(log: Log, **options: str) -> Planner:
    given = {"properties.bootstrap.servers": "h:1", "topic": "a", **options}
    config, seconds = configure_source(given), itertools.count()
    cluster: Any = cast("Any", log)
    return Planner(config, cluster, cluster, clock=lambda: next(seconds), pause=lambda _: None, new_id=lambda: "me")


def resumed(offset: StreamOffset) -> StreamOffset:
    """The same offset, as the next process of the query finds it in the checkpoint."""
    return StreamOffset.from_json(json.loads(json.dumps(offset.to_json())))


@pytest.fixture
def read(log: Log) -> StreamOffset:
    """The offset of a stream that has read all that there is."""
    return plan(log).available(StreamOffset({A0: 50, A1: 7}))


def test_the_checkpoint_has_the_epochs_of_the_leaders(read: StreamOffset) -> None:
    assert read.leader_epochs == {A0: 3, A1: 5}
    assert read.to_json()["epochs"] == {"a": {"0": 3, "1": 5}}


def test_a_log_that_was_truncated_and_has_grown_again_is_an_error(log: Log, read: StreamOffset) -> None:
    log.logs[A0], log.leader_epochs[A0], log.truncated = (10, 120), 4, {A0: 80}
    with pytest.raises(DataLossError) as error:
        plan(log).available(resumed(read))
    assert str(error.value).startswith(
        "data is lost: a-0 had been read up to 100 when its log was truncated from offset 80 on, and the log now holds "
        "10 to 119: other records are where some were that had been read. Start with a new checkpoint location"
    )


@pytest.mark.parametrize("reset", [{}, {"properties.auto.offset.reset": "latest"}])
def test_on_request_it_is_read_again_from_there(log: Log, read: StreamOffset, reset: dict[str, str]) -> None:
    log.logs[A0], log.leader_epochs[A0], log.truncated = (10, 120), 4, {A0: 80}
    planner = plan(log, **{"scan.fail-on-data-loss": "false", **reset})
    available = planner.available(resumed(read))
    assert (available.start_overrides, available.positions) == ({A0: 80}, {A0: 120, A1: 7})
    assert available.leader_epochs == {A0: 4, A1: 5}
    log.logs[A0] = (10, 130)
    assert planner.available(available).start_overrides == {}


def test_what_a_stream_had_not_read_may_be_truncated(log: Log, read: StreamOffset) -> None:
    log.logs[A0], log.leader_epochs[A0], log.truncated = (10, 120), 4, {A0: 100}
    assert plan(log).available(resumed(read)).positions == {A0: 120, A1: 7}


def test_leaders_are_asked_only_after_they_have_changed_and_once(log: Log, read: StreamOffset) -> None:
    planner = plan(log)
    planner.available(resumed(read))
    assert "epochs" not in log.requests
    log.leader_epochs[A0] = 4
    # Nothing is written, so that the checkpoint keeps the old epoch
    for _ in range(3):
        assert planner.available(resumed(read)) == read
    assert log.requests.count("epochs") == 1
    log.leader_epochs[A0], log.truncated = 5, {A0: 80}
    with pytest.raises(DataLossError):
        planner.available(resumed(read))


def test_without_an_epoch_in_the_checkpoint_the_first_look_counts(log: Log, read: StreamOffset) -> None:
    planner, old = plan(log), dataclasses.replace(read, leader_epochs={})
    assert planner.available(old) is old
    log.leader_epochs[A0], log.truncated = 4, {A0: 80}
    with pytest.raises(DataLossError, match="truncated from offset 80"):
        planner.available(old)


def test_brokers_that_tell_no_epochs_are_not_asked_for_them(log: Log, read: StreamOffset) -> None:
    log.leader_epochs, log.logs[A0] = {}, (10, 120)
    assert plan(log).available(resumed(read)).leader_epochs == {}
    assert "epochs" not in log.requests


def test_what_a_bounded_stream_has_read_to_its_end_may_be_truncated(log: Log, read: StreamOffset) -> None:
    log.leader_epochs[A0], log.truncated = 4, {A0: 80}
    ended = dataclasses.replace(read, stopping_offsets={A0: 100, A1: 7})
    assert plan(log).available(ended) is ended


def test_a_position_that_moved_on_is_not_taken_for_the_one_that_was_compared(log: Log) -> None:
    detector = TruncationDetector(log)
    assert detector.find(StreamOffset({A0: 90}, leader_epochs={A0: 3}), [A0], {A0: 3}) == {}
    log.truncated = {A0: 95}
    assert detector.find(StreamOffset({A0: 100}, leader_epochs={A0: 2}), [A0], {A0: 3}) == {A0: 95}
    assert log.truncations({A0: EpochPosition(95, 2)}) == {}
