"""Messages that are kept from task to task, in files."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.options.secrets import Properties
from millrace.source.reader import kept_messages
from millrace.source.reader.kept_messages import BATCH_MESSAGES, MIN_BYTES, KeptMessages, kept_messages_of_executor
from millrace.source.splits import OffsetRange, StreamLog
from millrace.worker import CLIENT_MAX_IDLE_S

CLIENT = Properties({"bootstrap.servers": "127.0.0.1:1"})
A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
LOG = StreamLog("stream", "id-of-a", 3)
VALUE = bytes(MIN_BYTES)


def range_of(start: int, end: int, partition: TopicPartition = A0, log: StreamLog | None = LOG) -> OffsetRange:
    return OffsetRange(partition, start, end, log)


def record(offset: int, partition: TopicPartition = A0, value: bytes | None = VALUE) -> Message:
    return Message(topic=partition.topic, partition=partition.partition, offset=offset, value=value)


@pytest.fixture
def kept(tmp_path: Path) -> KeptMessages:
    return KeptMessages(tmp_path / "kept", CLIENT)


def offsets(kept: KeptMessages, range_: OffsetRange) -> list[int] | None:
    found = kept.find(range_)
    return None if found is None else [each.offset() for part in found.up_to(range_.end) for each in part.items]


def test_a_range_reads_what_follows_the_one_before(kept: KeptMessages) -> None:
    kept.put({range_of(0, 5): [record(6), record(7), record(9)]})
    assert offsets(kept, range_of(5, 8)) == [6, 7]
    assert kept.find(range_of(5, 8)).end == 10
    # It is not gone by that: a task may be repeated
    assert offsets(kept, range_of(5, 8)) == [6, 7]


def test_a_range_may_begin_in_the_middle(kept: KeptMessages) -> None:
    kept.put({range_of(0, 5): [record(6), record(7), record(9)]})
    assert offsets(kept, range_of(7, 20)) == [7, 9]
    # No visible message is before 9, and that is known
    assert offsets(kept, range_of(8, 9)) == []


@pytest.mark.parametrize(
    "other",
    [
        range_of(4, 8),
        range_of(10, 20),
        range_of(5, 8, A1),
        range_of(5, 8, log=None),
        range_of(5, 8, log=replace(LOG, topic_id="id-of-another-a")),
        range_of(5, 8, log=replace(LOG, leader_epoch=4)),
        range_of(5, 8, log=replace(LOG, stream="another")),
    ],
    ids=["before", "behind", "partition", "no log", "topic made anew", "new leader", "stream"],
)
def test_other_ranges_find_nothing(kept: KeptMessages, other: OffsetRange) -> None:
    kept.put({range_of(0, 5): [record(6), record(7), record(9)]})
    assert kept.find(other) is None


def test_clients_that_see_other_messages_find_nothing(tmp_path: Path) -> None:
    KeptMessages(tmp_path, CLIENT).put({range_of(0, 5): [record(5)]})
    assert KeptMessages(tmp_path, Properties({**CLIENT, "client.id": "b"})).find(range_of(5, 6))
    uncommitted = Properties({**CLIENT, "isolation.level": "read_uncommitted"})
    assert KeptMessages(tmp_path, uncommitted).find(range_of(5, 6)) is None
    elsewhere = Properties({**CLIENT, "bootstrap.servers": "127.0.0.1:2"})
    assert KeptMessages(tmp_path, elsewhere).find(range_of(5, 6)) is None


def test_messages_keep_all_that_they_have(kept: KeptMessages) -> None:
    whole = Message("a", 0, 5, b"key", VALUE, [("one", b"1"), ("one", None)], None, (2, 1_700_000_000_123), 0.0, 7)
    bare = Message("a", 0, 6, None, None)
    kept.put({range_of(0, 5): [whole, bare]})
    (found,) = kept.find(range_of(5, 7)).up_to(7)
    assert found.partition == A0
    for ours, theirs in zip(found.items, (whole, bare), strict=True):
        for part in ("topic", "partition", "offset", "key", "value", "headers", "timestamp", "leader_epoch", "error"):
            assert getattr(ours, part)() == getattr(theirs, part)(), part


def test_many_messages_come_in_batches(kept: KeptMessages) -> None:
    count = BATCH_MESSAGES + 1
    kept.put({range_of(0, 5): [record(offset, value=b"12345678") for offset in range(5, 5 + count)]})
    assert [len(part.items) for part in kept.find(range_of(5, 9)).up_to(10**9)] == [BATCH_MESSAGES, 1]


def test_what_is_fetched_later_takes_the_place_of_what_was_kept(kept: KeptMessages) -> None:
    kept.put({range_of(0, 5): [record(5)]})
    kept.put({range_of(5, 6): [record(6)]})
    assert kept.find(range_of(5, 6)) is None
    assert offsets(kept, range_of(6, 7)) == [6]


@pytest.mark.parametrize("later", [[], [record(6, value=b"few")]], ids=["none", "few"])
def test_where_little_follows_nothing_is_kept(kept: KeptMessages, tmp_path: Path, later: list[Message]) -> None:
    kept.put({range_of(0, 5): [record(5)]})
    kept.put({range_of(5, 6): later})
    assert list((tmp_path / "kept").iterdir()) == []


def test_keys_count_too(kept: KeptMessages) -> None:
    kept.put({range_of(0, 5): [Message("a", 0, 5, VALUE, None)]})
    assert offsets(kept, range_of(5, 6)) == [5]


def test_a_partition_keeps_its_first_messages_up_to_a_size(kept: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_messages, "MAX_BYTES", 2 * len(VALUE) + 1)
    kept.put({range_of(0, 5): [record(5), record(6), record(7)]})
    assert kept.find(range_of(5, 6)).end == 7


def test_an_executor_keeps_no_more_than_its_size(kept: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_messages, "MAX_TOTAL_BYTES", 3 * len(VALUE))
    kept.put({range_of(0, 5): [record(5)]})
    kept.put({range_of(0, 5, A1): [record(5, A1), record(6, A1)]})
    assert kept.find(range_of(5, 6))
    assert kept.find(range_of(5, 6, A1)) is None


def test_files_that_nobody_has_used_for_long_are_deleted(kept: KeptMessages, tmp_path: Path) -> None:
    kept.put({range_of(0, 5): [record(5)]})
    long_ago = time.time() - CLIENT_MAX_IDLE_S - 1
    for path in (tmp_path / "kept").iterdir():
        os.utime(path, (long_ago, long_ago))
    kept.put({range_of(0, 5, A1): [record(5, A1)]})
    assert kept.find(range_of(5, 6)) is None
    assert kept.find(range_of(5, 6, A1))


def test_others_may_not_read_the_files(kept: KeptMessages, tmp_path: Path) -> None:
    kept.put({range_of(0, 5): [record(5)]})
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000])
def test_a_file_that_cannot_be_read_is_none(kept: KeptMessages, tmp_path: Path, content: bytes) -> None:
    kept.put({range_of(0, 5): [record(5)]})
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(content)
    assert kept.find(range_of(5, 6)) is None


def test_a_disk_that_takes_nothing_fails_no_task(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    kept = KeptMessages(blocked / "kept", CLIENT)
    kept.put({range_of(0, 5): [record(5)]})
    assert kept.find(range_of(5, 6)) is None


def test_files_are_in_the_first_folder_of_the_executor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    assert kept_messages_of_executor(CLIENT) is None
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    kept = kept_messages_of_executor(CLIENT)
    assert kept is not None
    kept.put({range_of(0, 5): [record(5)]})
    assert len(list((tmp_path / "millrace-fetched").iterdir())) == 1
