"""Runs of malformed messages are those of all messages, however these are divided into ranges."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import TopicPartition
from millrace.monitoring.malformed_runs import MalformedRuns, RangeRuns, joined
from millrace.monitoring.split_report import PartitionCounts, SplitReport
from millrace.monitoring.totals import StreamTotals

ORDERS = TopicPartition("orders", 0)

flags = st.lists(st.booleans(), max_size=20)


@given(st.lists(flags, max_size=6))
def test_runs_of_parts_are_those_of_the_whole(parts: list[list[bool]]) -> None:
    whole = [flag for part in parts for flag in part]
    assert reduce(MalformedRuns.then, map(MalformedRuns.of, parts), MalformedRuns()) == MalformedRuns.of(whole)


@given(flags)
def test_the_longest_run_is_found(malformed: list[bool]) -> None:
    text = "".join("x" if flag else " " for flag in malformed)
    runs = MalformedRuns.of(malformed)
    assert runs.longest == max(map(len, text.split()), default=0)
    assert (runs.leading, runs.trailing) == (len(text) - len(text.lstrip("x")), len(text) - len(text.rstrip("x")))
    assert runs.has_sound == (" " in text)


@given(st.lists(flags, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_neighbouring_ranges_join_in_any_order(parts: list[list[bool]], random: object) -> None:
    ranges, end = [], 0
    for part in parts:
        # One offset more: an empty range has no place
        ranges.append(RangeRuns(end, end + len(part) + 1, MalformedRuns.of(part)))
        end += len(part) + 1
    random.shuffle(ranges)
    whole = MalformedRuns.of([flag for part in parts for flag in part])
    assert joined(ranges) == [RangeRuns(0, end, whole)]


@given(st.lists(st.tuples(st.lists(st.booleans(), min_size=1, max_size=6), st.booleans()), min_size=1, max_size=8))
def test_runs_of_micro_batches_end_where_offsets_begin_again(parts: list[tuple[list[bool], bool]]) -> None:
    totals, offset, before = StreamTotals(), 100, list[bool]()
    for malformed, is_created_again in parts:
        offset, before = (0, []) if is_created_again else (offset, before)
        runs = RangeRuns(offset, offset + len(malformed), MalformedRuns.of(malformed))
        batch = totals.begin_batch(1)
        answer = totals.add_report(SplitReport(batch, 0, {}, runs={ORDERS: runs}))
        totals.end_batch()
        # Only the end of what came before is remembered
        tail = MalformedRuns.of(before).trailing
        assert answer.longest_run == MalformedRuns.of([True] * tail + malformed).longest
        offset, before = runs.end, before + malformed


@given(st.lists(st.tuples(flags, st.booleans()), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_share_is_that_of_all_splits_whichever_ends_first(
    parts: list[tuple[list[bool], bool]], random: object
) -> None:
    totals, places = StreamTotals(), list(range(len(parts)))
    batch = totals.begin_batch(len(parts))
    random.shuffle(places)
    answers = []
    for split in places:
        malformed, is_read_again = parts[split]
        counts = {TopicPartition("orders", split): PartitionCounts(len(malformed), errors=sum(malformed))}
        report = SplitReport(batch, split, counts)
        answers.append(totals.add_report(report))
        if is_read_again:
            again = SplitReport(batch, split, {}, replayed=tuple(counts))
            assert totals.add_report(again) == answers[-1]
    whole = [flag for malformed, _ in parts for flag in malformed]
    assert [answer.messages for answer in answers] == [0] * (len(parts) - 1) + [len(whole)]
    assert answers[-1].malformed == sum(whole)
