from __future__ import annotations

import json

import pytest

from millrace.checkpoint import (
    ReportedOffset,
    StreamOffset,
    parse_reported_offset,
)
from millrace.contracts import TopicPartition
from millrace.errors import MillraceError

A0, A10, B0 = TopicPartition("a", 0), TopicPartition("a", 10), TopicPartition("b", 0)


def test_an_offset_is_json_with_a_version_by_topic_and_partition() -> None:
    assert StreamOffset({B0: 1, A10: 3, A0: 2}).to_json() == {"v": 1, "topics": {"a": {"0": 2, "10": 3}, "b": {"0": 1}}}


def test_the_text_of_an_offset_does_not_depend_on_the_order_of_its_partitions() -> None:
    one, other = StreamOffset({B0: 1, A10: 3, A0: 2}), StreamOffset({A0: 2, A10: 3, B0: 1})
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())


def test_what_joined_and_where_to_stop_are_there_only_when_there_is_some() -> None:
    stored = StreamOffset({A0: 5}, start_overrides={A0: 2}, stopping_offsets={A0: 9}).to_json()
    assert stored == {
        "v": 1,
        "topics": {"a": {"0": 5}},
        "from": {"a": {"0": 2}},
        "stop": {"a": {"0": 9}},
    }


def test_the_documented_offset_reads_back() -> None:
    assert StreamOffset.from_json({"v": 1, "topics": {"orders": {"0": 42}}}) == StreamOffset(
        {TopicPartition("orders", 0): 42}
    )


def test_epochs_of_leaders_are_stored_by_topic_and_partition() -> None:
    stored = StreamOffset({A0: 5, B0: 1}, leader_epochs={A0: 3}).to_json()
    assert stored == {"v": 1, "topics": {"a": {"0": 5}, "b": {"0": 1}}, "epochs": {"a": {"0": 3}}}


@pytest.mark.parametrize("version", [2, 0, "1"])
def test_an_offset_of_another_version_is_refused(version: object) -> None:
    with pytest.raises(MillraceError) as error:
        StreamOffset.from_json({"v": version, "topics": {}})
    assert str(error.value) == (
        f"the checkpoint holds an offset of version {version!r}, this millrace reads version 1: {{'v': {version!r}, "
        f"'topics': {{}}}}. Use the millrace that wrote it, or another checkpoint location"
    )


def test_an_offset_of_sparks_own_connector_is_refused() -> None:
    with pytest.raises(
        MillraceError, match=r"an offset of another source: \{'orders': \{'0': 42\}\}.*`millrace checkpoint import`"
    ):
        StreamOffset.from_json({"orders": {"0": 42}})


def test_an_offset_in_a_progress_is_read_with_its_metrics() -> None:
    reported = ReportedOffset(StreamOffset({A0: 5}), {"skipped": 3})
    assert parse_reported_offset(json.dumps(reported.to_json())) == reported
    assert parse_reported_offset(reported.to_json()) == reported


@pytest.mark.parametrize("text", [None, "", "5", "no json", '{"orders": {"0": 42}}', '{"v": 1, "topics": 2}'])
def test_what_is_no_offset_of_millrace_is_none(text: str | None) -> None:
    assert parse_reported_offset(text) is None


def test_a_bounded_stream_has_stopped_where_it_has_read_all_that_it_wants() -> None:
    offset = StreamOffset({A0: 5, A10: 4, B0: 3}, stopping_offsets={A0: 5, A10: 5})
    assert [offset.has_stopped(partition) for partition in (A0, A10, B0)] == [True, False, True]
    assert not StreamOffset({A0: 5}).has_stopped(A0)
