from __future__ import annotations

from collections.abc import Collection

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.source.enumerator.alignment import Alignment
from support.clock import Clock

A0, A1, A2 = (TopicPartition("a", number) for number in range(3))


class Timestamps:
    """The timestamps of the records of some partitions, whose offsets count from 0."""

    def __init__(self, **timestamps: list[int]) -> None:
        self.records = {TopicPartition("a", int(name[1:])): found for name, found in timestamps.items()}
        self.looks = 0
        self.not_visible: set[TopicPartition] = set()

    def offsets_for_timestamp(
        self, partitions: Collection[TopicPartition], millis: int
    ) -> dict[TopicPartition, tuple[int, int]]:
        return {p: self._first_from(p, 0, millis) for p in partitions}

    def next_timestamps(self, start: Offsets, end: Offsets) -> dict[TopicPartition, int]:
        self.looks += len(start)
        visible = {p: offset for p, offset in start.items() if p not in self.not_visible}
        return {partition: self.records[partition][offset] for partition, offset in visible.items()}

    def offset_of_timestamp(self, partition: TopicPartition, millis: int, start: int, end: int) -> int:
        offset, _ = self._first_from(partition, start + 1, millis)
        return end if offset < 0 else offset

    def ends(self) -> dict[TopicPartition, int]:
        return {partition: len(found) for partition, found in self.records.items()}

    def _first_from(self, partition: TopicPartition, start: int, millis: int) -> tuple[int, int]:
        found = self.records[partition]
        return next(((n, found[n]) for n in range(start, len(found)) if found[n] >= millis), (-1, -1))


def align(timestamps: Timestamps, drift_ms: int, idle_ms: int | None = None, clock: Clock | None = None) -> Alignment:
    return Alignment(timestamps, timestamps, drift_ms, idle_ms, clock or Clock())


def batches(
    alignment: Alignment, timestamps: Timestamps, *, draining: bool = False, max_records: int | None = None
) -> list[list[int]]:
    """Return the stopping offsets of each batch until no partition has more."""
    position = dict.fromkeys(timestamps.records, 0)
    found = []
    while True:
        end = dict(alignment.end(position, timestamps.ends(), max_records, draining=draining))
        if end == position:
            return found
        found.append(list(end.values()))
        position = end


def test_a_batch_ends_all_partitions_at_about_the_same_timestamp() -> None:
    timestamps = Timestamps(p0=[0, 5, 10, 15, 20], p1=[0, 1, 2, 12, 13], p2=[40])
    assert batches(align(timestamps, 10), timestamps) == [[2, 3, 0], [4, 5, 0], [5, 5, 0], [5, 5, 1]]


def test_timestamps_are_looked_at_once() -> None:
    timestamps = Timestamps(p0=[0, 5, 10, 15, 20], p1=[0, 1, 2, 12, 13])
    batches(align(timestamps, 10), timestamps)
    assert timestamps.looks == 2


def test_a_record_after_a_later_one_is_still_read() -> None:
    timestamps = Timestamps(p0=[0, 90, 1, 2, 3, 50], p1=[0, 60])
    assert [ends[0] for ends in batches(align(timestamps, 10), timestamps)][-1] == 6
    assert [ends[1] for ends in batches(align(timestamps, 10), timestamps)][-1] == 2


def test_by_default_a_partition_without_new_records_holds_nobody_back() -> None:
    timestamps = Timestamps(p0=[0, 5, 100], p1=[])
    assert batches(align(timestamps, 10), timestamps) == [[2, 0], [3, 0]]


def test_with_an_idle_timeout_of_0_a_partition_is_never_idle() -> None:
    timestamps, clock = Timestamps(p0=[0, 5, 100], p1=[]), Clock()
    alignment = align(timestamps, 10, idle_ms=0, clock=clock)
    assert batches(alignment, timestamps) == [[2, 0]]
    clock.now += 10**9
    assert batches(alignment, timestamps) == [[2, 0]]


def test_a_partition_without_new_records_holds_the_others_back_until_it_is_idle() -> None:
    clock, timestamps = Clock(), Timestamps(p0=[0, 5, 12, 100], p1=[3])
    alignment = align(timestamps, 10, idle_ms=5_000, clock=clock)
    assert batches(alignment, timestamps) == [[2, 1], [3, 1]]
    clock.now += 4
    position = {A0: 3, A1: 1}
    assert alignment.end(position, timestamps.ends(), None, draining=False) == position
    clock.now += 1
    assert alignment.end(position, timestamps.ends(), None, draining=False) == {A0: 4, A1: 1}


def test_a_partition_that_is_idle_counts_again_with_its_next_record() -> None:
    clock, timestamps = Clock(), Timestamps(p0=[0, 100, 200], p1=[])
    alignment = align(timestamps, 10, idle_ms=1_000, clock=clock)
    assert alignment.end({A0: 0, A1: 0}, timestamps.ends(), None, draining=False) == {A0: 1, A1: 0}
    clock.now += 2
    assert alignment.end({A0: 1, A1: 0}, timestamps.ends(), None, draining=False) == {A0: 2, A1: 0}
    timestamps.records[A1] = [150]
    assert alignment.end({A0: 2, A1: 0}, timestamps.ends(), None, draining=False) == {A0: 2, A1: 1}


def test_nobody_is_held_back_when_nothing_more_comes() -> None:
    timestamps = Timestamps(p0=[0, 5, 12, 100], p1=[3])
    alignment = align(timestamps, 10, idle_ms=10**9)
    assert batches(alignment, timestamps, draining=True) == [[2, 1], [3, 1], [4, 1]]


def test_offsets_without_visible_records_are_passed() -> None:
    timestamps = Timestamps(p0=[0, 5], p1=[1, 2, 3])
    timestamps.not_visible = {A1}
    alignment = align(timestamps, 10)
    assert alignment.end({A0: 0, A1: 0}, timestamps.ends(), None, draining=False) == {A0: 2, A1: 3}


def test_a_batch_that_would_be_too_large_spans_less_time() -> None:
    timestamps = Timestamps(p0=list(range(100)), p1=list(range(0, 100, 10)))
    alignment = align(timestamps, 50)
    found = batches(alignment, timestamps, max_records=22)
    assert found[-1] == [100, 10]
    sizes = [sum(end) - sum(begin) for begin, end in zip([[0, 0], *found], found, strict=False)]
    assert max(sizes) <= 22
    # All that is read is older than all that is left
    assert all(fast <= slow * 10 and (slow - 1) * 10 <= fast for fast, slow in found)


def test_records_of_one_timestamp_may_be_too_many() -> None:
    timestamps = Timestamps(p0=[5] * 10, p1=[5, 6])
    assert batches(align(timestamps, 50), timestamps, max_records=3)[0] == [10, 1]
