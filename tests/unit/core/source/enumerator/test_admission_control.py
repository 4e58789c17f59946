from __future__ import annotations

from typing import Any

import pytest

from millrace.checkpoint import Offsets
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.source.enumerator.admission_control import AdmissionControl, limit_records
from support.clock import Clock

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
TABLE = {
    "properties.bootstrap.servers": "h:1",
    "connector": "upsert-kafka",
    "topic": "a",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
    "state.checkpoints.dir": "/nowhere",
}
UPSERTS = {"changelog.mode": "upsert"}


class RecordSizes:
    """Mean sizes of records, the last one for ever."""

    def __init__(self, *sizes: float | None) -> None:
        self.sizes = sizes
        self.samples = 0

    def mean_record_bytes(self, start: Offsets, end: Offsets) -> float | None:
        self.samples += 1
        return self.sizes[min(self.samples, len(self.sizes)) - 1]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def admission_control(clock: Clock, sizes: RecordSizes | None = None, **options: Any) -> AdmissionControl:
    given = {"scan." + name.replace("_", "-"): str(value) for name, value in options.items()}
    config = configure_source({"properties.bootstrap.servers": "h:1", **given})
    return AdmissionControl(config.options, sizes or RecordSizes(100.0), clock=clock)


@pytest.mark.parametrize(
    ("max_records", "expected"), [({}, 10), ({"max_records_per_batch": 4}, 4), ({"max_records_per_batch": 50}, 10)]
)
def test_a_limit_in_bytes_goes_by_the_size_of_records(clock: Clock, max_records: dict[str, int], expected: int) -> None:
    end = admission_control(clock, max_bytes_per_batch=1000, **max_records).end({A0: 10}, {A0: 100}, draining=False)
    assert end == {A0: 10 + expected}


def test_a_record_is_read_however_small_the_limit_in_bytes(clock: Clock) -> None:
    assert admission_control(clock, max_bytes_per_batch=5).end({A0: 10}, {A0: 100}, draining=False) == {A0: 11}


def test_no_record_is_looked_at_when_there_is_none_to_read(clock: Clock) -> None:
    sizes = RecordSizes()
    assert admission_control(clock, sizes, max_bytes_per_batch=1000).end({A0: 100}, {A0: 100}, draining=False) == {
        A0: 100
    }
    assert sizes.samples == 0


def test_the_size_seen_last_holds_when_no_record_can_be_seen(clock: Clock) -> None:
    limited = admission_control(clock, RecordSizes(None, 50.0, None), max_bytes_per_batch=5_000)
    assert [limited.end({A0: 0}, {A0: 10_000}, draining=False)[A0] for _ in range(3)] == [5, 100, 100]


def test_the_first_batch_takes_what_there_is(clock: Clock) -> None:
    assert admission_control(clock, min_records_per_batch=100).end({A0: 0}, {A0: 3}, draining=False) == {A0: 3}


def test_a_batch_waits_for_enough_records_over_all_partitions(clock: Clock) -> None:
    waiting = admission_control(clock, min_records_per_batch=10)
    waiting.end({A0: 0}, {A0: 3}, draining=False)
    assert waiting.end({A0: 3, A1: 0}, {A0: 8, A1: 4}, draining=False) == {A0: 3, A1: 0}
    assert waiting.end({A0: 3, A1: 0}, {A0: 8, A1: 5}, draining=False) == {A0: 8, A1: 5}


def test_a_batch_waits_no_longer_than_it_may(clock: Clock) -> None:
    waiting = admission_control(clock, min_records_per_batch=10, max_batch_delay="5 s")
    waiting.end({A0: 0}, {A0: 3}, draining=False)
    clock.now += 4.9
    assert waiting.end({A0: 3}, {A0: 4}, draining=False) == {A0: 3}
    clock.now += 0.2
    assert waiting.end({A0: 3}, {A0: 4}, draining=False) == {A0: 4}
    assert waiting.end({A0: 4}, {A0: 5}, draining=False) == {A0: 4}


def test_nothing_is_waited_for_when_nothing_more_comes(clock: Clock) -> None:
    waiting = admission_control(clock, min_records_per_batch=10)
    waiting.end({A0: 0}, {A0: 3}, draining=True)
    assert waiting.end({A0: 3}, {A0: 4}, draining=True) == {A0: 4}


A, B, C = (TopicPartition("t", number) for number in range(3))
START = {A: 100, B: 0, C: 7}


def taken(backlog: dict[TopicPartition, int], max_records: int) -> dict[TopicPartition, int]:
    end = {partition: START[partition] + count for partition, count in backlog.items()}
    limited = limit_records(START, end, max_records)
    return {partition: limited[partition] - START[partition] for partition in limited}


@pytest.mark.parametrize("max_records", [30, 31, 10**9])
def test_what_fits_is_taken_whole(max_records: int) -> None:
    assert taken({A: 10, B: 20, C: 0}, max_records) == {A: 10, B: 20, C: 0}


def test_the_limit_is_shared_in_proportion() -> None:
    assert taken({A: 1001, B: 3001, C: 1}, 403) == {A: 101, B: 301, C: 1}


def test_a_small_partition_beside_a_big_one_gets_at_least_one() -> None:
    assert taken({A: 1_000_000, B: 1, C: 2}, 10) == {A: 8, B: 1, C: 1}


def test_a_limit_below_the_number_of_partitions_goes_to_the_largest_one_each() -> None:
    assert taken({A: 5, B: 7, C: 6}, 2) == {A: 0, B: 1, C: 1}


def test_of_equal_partitions_the_first_come_first() -> None:
    assert taken({C: 5, B: 5, A: 5}, 2) == {A: 1, B: 1, C: 0}


def test_a_partition_with_nothing_left_stays_where_it_is() -> None:
    assert taken({A: 0, B: 9, C: 0}, 4) == {A: 0, B: 4, C: 0}


def test_there_may_be_nothing_at_all() -> None:
    assert limit_records({}, {}, 5) == {}


@pytest.mark.parametrize(
    ("options", "taken"), [({}, 500_000), ({"scan.max-records-per-batch": "700000"}, 700_000), (UPSERTS, 3_000_000)]
)
def test_what_a_table_with_state_has_changed_fits_into_memory(clock: Clock, options: dict, taken: int) -> None:
    config = configure_source({**TABLE, **options})
    control = AdmissionControl(config.options, RecordSizes(100.0), clock=clock)
    end = control.end({A0: 5}, {A0: 3_000_005}, draining=True)
    assert end == {A0: 5 + taken}


def test_it_tells_why_a_batch_is_not_all(clock: Clock) -> None:
    raw = {"properties.bootstrap.servers": "h:1", "topic": "a"}
    limits = {"scan.max-records-per-batch": "5", "scan.min-records-per-batch": "3"}
    control = AdmissionControl(configure_source({**raw, **limits}).options, RecordSizes(None), None, clock)
    assert control.end({A0: 0}, {A0: 9}, draining=False) == {A0: 5}
    assert control.held_back == "limit"
    assert control.end({A0: 5}, {A0: 7}, draining=False) == {A0: 5}
    assert control.held_back == "min-records"
    assert control.end({A0: 5}, {A0: 8}, draining=False) == {A0: 8}
    assert control.held_back is None
