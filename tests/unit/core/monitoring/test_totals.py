from __future__ import annotations

from millrace.contracts import TopicPartition
from millrace.monitoring.malformed_runs import MalformedRuns, RangeRuns
from millrace.monitoring.split_report import PartitionCounts, SplitReport
from millrace.monitoring.totals import MAX_CLIENTS, MAX_LATE_BATCHES, StreamTotals
from support.clock import Clock

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def test_reports_of_a_batch_are_added_up_when_it_ends() -> None:
    clock = Clock()
    totals = StreamTotals(clock)
    batch = totals.begin_batch(2)
    totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(10, 100, 0, 5, 6)}))
    totals.add_report(
        SplitReport(batch, 1, {A0: PartitionCounts(2, 20, 1, None, None), A1: PartitionCounts(8, 80, 0, 7, 9)})
    )
    assert totals.progress().to_json()["partitions"] == {}
    clock.now += 2
    totals.end_batch()
    assert totals.progress().to_json() == {
        "partitions": {"a": {"0": [12, 120, 1, 5, 6, 0], "1": [8, 80, 0, 7, 9, 0]}},
        "records_per_second": 10.0,
        "bytes_per_second": 100.0,
        "idle_ms": 0,
        "missing": 0,
        "clients": {},
    }


def test_the_size_of_a_state_is_the_last_one() -> None:
    totals = StreamTotals()
    for keys, restores in ((5, 1), (7, 0), (None, 0)):
        batch = totals.begin_batch(1)
        counts = PartitionCounts(1, restores=restores, state_keys=keys, state_bytes=keys and 1000 * keys)
        totals.add_report(SplitReport(batch, 0, {A0: counts}))
        totals.end_batch()
    found = totals.progress().partitions[A0]
    assert (found.restores, found.state_keys, found.state_bytes) == (1, 7, 7_000)


def test_partitions_that_are_gone_are_forgotten_but_for_the_limit_of_malformed_records() -> None:
    totals = StreamTotals()
    batch = totals.begin_batch(1)
    counts = {A0: PartitionCounts(3, errors=2), A1: PartitionCounts(4, errors=1)}
    assert totals.add_report(SplitReport(batch, 0, counts)) == (3, 7, 0, 0)
    totals.end_batch()
    totals.keep_only({A1: 4})
    assert set(totals.progress().partitions) == {A1}
    batch = totals.begin_batch(1)
    assert totals.add_report(SplitReport(batch, 0, {A1: PartitionCounts(1, errors=1)})) == (4, 8, 0, 0)


def test_malformed_messages_in_a_row_are_counted_across_tasks_and_micro_batches() -> None:
    def report(split: int, start: int, end: int, *lengths: int, has_sound: bool = False) -> SplitReport:
        return SplitReport(batch, split, {}, runs={A0: RangeRuns(start, end, MalformedRuns(*lengths, has_sound))})

    totals = StreamTotals()
    batch = totals.begin_batch(3)
    assert totals.add_report(report(0, 0, 10, 0, 3, 2, has_sound=True)).longest_run == 3
    # Messages of the split between may be sound
    assert totals.add_report(report(2, 20, 30, 4, 4, 0, has_sound=True)).longest_run == 4
    assert totals.add_report(report(1, 10, 20, 10, 10, 10)).longest_run == 16
    totals.end_batch()
    batch = totals.begin_batch(1)
    assert totals.add_report(report(0, 30, 31, 1, 1, 1)).longest_run == 1
    totals.end_batch()
    for more in (1, 2):
        batch = totals.begin_batch(1)
        assert totals.add_report(report(0, 30 + more, 31 + more, 1, 1, 1)).longest_run == 1 + more
        totals.end_batch()
    batch = totals.begin_batch(1)
    # Messages between were skipped
    assert totals.add_report(report(0, 40, 41, 1, 1, 1)).longest_run == 1
    totals.end_batch()
    batch = totals.begin_batch(1)
    # The topic was created again
    assert totals.add_report(report(0, 0, 10, 2, 2, 2)).longest_run == 2
    totals.end_batch()
    batch = totals.begin_batch(1)
    assert totals.add_report(report(0, 10, 11, 1, 1, 1)).longest_run == 3


def test_what_is_replayed_counts_as_it_was_read() -> None:
    totals = StreamTotals()
    batch = totals.begin_batch(1)
    runs = {A0: RangeRuns(0, 9, MalformedRuns(2, 2, 2, True)), A1: RangeRuns(0, 9, MalformedRuns(3, 3, 3, True))}
    counts = {A0: PartitionCounts(9, errors=2), A1: PartitionCounts(9, errors=3)}
    assert totals.add_report(SplitReport(batch, 0, counts, runs=runs)) == (5, 18, 3, 0)
    again = SplitReport(batch, 0, {A0: PartitionCounts(9, errors=2)}, runs={A0: runs[A0]}, replayed=(A1,))
    assert totals.add_report(again) == (5, 18, 3, 0)
    assert totals.add_report(SplitReport(batch, 0, {}, replayed=(A0, A1))) == (5, 18, 3, 0)


def test_runs_end_at_a_range_that_an_earlier_query_has_read() -> None:
    totals, all_bad = StreamTotals(), MalformedRuns(9, 9, 9)
    ends = {9: {}, 18: {"replayed": (A0,)}, 27: {}}
    for end, replayed in ends.items():
        batch = totals.begin_batch(1)
        runs = {} if replayed else {A0: RangeRuns(end - 9, end, all_bad)}
        longest = totals.add_report(SplitReport(batch, 0, {}, runs=runs, **replayed)).longest_run
        assert longest == (0 if replayed else 9)
        totals.end_batch()


def test_a_share_is_not_that_of_a_micro_batch_some_of_which_an_earlier_query_has_read() -> None:
    totals = StreamTotals()
    batch = totals.begin_batch(2)
    assert totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(200, errors=100)})) == (100, 0, 0, 0)
    # A million sound messages, perhaps
    assert totals.add_report(SplitReport(batch, 1, {}, replayed=(A1,))) == (100, 0, 0, 0)
    totals.end_batch()
    batch = totals.begin_batch(1)
    assert totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(10, errors=1)})) == (101, 10, 0, 100)


def test_a_split_that_is_read_again_counts_once() -> None:
    totals = StreamTotals()
    batch = totals.begin_batch(1)
    totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(3, 30)}))
    totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(10, 100)}))
    totals.end_batch()
    assert totals.progress().to_json()["partitions"]["a"]["0"][:2] == [10, 100]


def test_a_report_that_is_under_way_while_later_batches_are_read_still_counts() -> None:
    totals = StreamTotals()
    first = totals.begin_batch(1)
    totals.end_batch()
    assert totals.progress().to_json()["missing"] == 1
    second = totals.begin_batch(1)
    totals.add_report(SplitReport(first, 0, {A0: PartitionCounts(3, 30)}))
    totals.add_report(SplitReport(first, 0, {A0: PartitionCounts(3, 30)}))
    totals.add_report(SplitReport(second, 0, {A0: PartitionCounts(4, 40)}))
    totals.end_batch()
    told = totals.progress().to_json()
    assert (told["partitions"], told["missing"]) == ({"a": {"0": [7, 70, 0, None, None, 0]}}, 0)


def test_a_report_that_is_much_too_late_stays_missing() -> None:
    totals = StreamTotals()
    first = totals.begin_batch(1)
    totals.end_batch()
    for _ in range(MAX_LATE_BATCHES):
        totals.begin_batch(0)
        totals.end_batch()
    totals.add_report(SplitReport(first, 0, {A0: PartitionCounts(3, 30)}))
    assert (totals.progress().to_json()["partitions"], totals.progress().to_json()["missing"]) == ({}, 1)


def test_the_rate_of_a_batch_holds_what_was_reported_after_its_end() -> None:
    clock = Clock()
    totals = StreamTotals(clock)
    batch = totals.begin_batch(2)
    totals.add_report(SplitReport(batch, 0, {A0: PartitionCounts(4, 40)}))
    clock.now += 2
    totals.end_batch()
    clock.now += 3
    totals.add_report(SplitReport(batch, 1, {A0: PartitionCounts(6, 60)}))
    told = totals.progress().to_json()
    assert (told["records_per_second"], told["bytes_per_second"], told["missing"]) == (5.0, 50.0, 0)


def test_who_tells_of_malformed_records_hears_how_many_the_query_has_met() -> None:
    totals = StreamTotals()
    first = totals.begin_batch(2)
    assert totals.add_report(SplitReport(first, 0, {A0: PartitionCounts(9, errors=2)})).malformed == 2
    # Of a split that is read again the newest attempt counts
    assert totals.add_report(SplitReport(first, 0, {A0: PartitionCounts(9, errors=3)})).malformed == 3
    both = {A0: PartitionCounts(9, errors=1), A1: PartitionCounts(9, errors=4)}
    assert totals.add_report(SplitReport(first, 1, both)).malformed == 8
    totals.end_batch()
    second = totals.begin_batch(1)
    assert totals.add_report(SplitReport(second, 0, {A1: PartitionCounts(9, errors=5)})).malformed == 13
    totals.end_batch()
    assert totals.progress().to_json()["partitions"] == {
        "a": {"0": [18, 0, 0, None, None, 4], "1": [18, 0, 0, None, None, 9]}
    }


def test_malformed_records_that_are_told_late_count_too() -> None:
    totals = StreamTotals()
    first = totals.begin_batch(1)
    totals.end_batch()
    totals.begin_batch(1)
    late = SplitReport(first, 0, {A0: PartitionCounts(9, errors=2)})
    assert totals.add_report(late).malformed == 2
    assert totals.add_report(late).malformed == 2


def test_the_time_without_a_batch_is_told() -> None:
    clock = Clock()
    totals = StreamTotals(clock)
    clock.now += 3
    assert totals.progress().to_json()["idle_ms"] == 3_000
    totals.begin_batch(0)
    totals.end_batch()
    assert totals.progress().to_json()["idle_ms"] == 0


def test_statistics_of_the_clients_that_reported_last_are_kept() -> None:
    totals = StreamTotals()
    names = [f"worker-{number}" for number in range(2 * MAX_CLIENTS)]
    for name in ["stays", *names[:MAX_CLIENTS], "stays", *names[MAX_CLIENTS:-1], "stays"]:
        batch = totals.begin_batch(1)
        totals.add_report(SplitReport(batch, 0, {}, name, {"rxmsgs": 1}))
        totals.end_batch()
    assert list(totals.progress().clients) == [*names[-MAX_CLIENTS:-1], "stays"]
