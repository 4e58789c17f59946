from __future__ import annotations

from typing import Any

import pytest

from millrace.checkpoint import Offsets
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.source.enumerator.admission_control import AdmissionControl
from support.clock import Clock

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


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


def pace(clock: Clock, sizes: RecordSizes | None = None, **options: Any) -> AdmissionControl:
    given = {"scan." + name.replace("_", "-"): str(value) for name, value in options.items()}
    config = configure_source({"properties.bootstrap.servers": "h:1", **given})
    return AdmissionControl(config.options, sizes or RecordSizes(100.0), clock=clock)


@pytest.mark.parametrize(
    ("max_records", "expected"), [({}, 10), ({"max_records_per_batch": 4}, 4), ({"max_records_per_batch": 50}, 10)]
)
def test_a_limit_in_bytes_goes_by_the_size_of_records(clock: Clock, max_records: dict[str, int], expected: int) -> None:
    end = pace(clock, max_bytes_per_batch=1000, **max_records).end({A0: 10}, {A0: 100}, draining=False)
    assert end == {A0: 10 + expected}


def test_a_record_is_read_however_small_the_limit_in_bytes(clock: Clock) -> None:
    assert pace(clock, max_bytes_per_batch=5).end({A0: 10}, {A0: 100}, draining=False) == {A0: 11}


def test_no_record_is_looked_at_when_there_is_none_to_read(clock: Clock) -> None:
    sizes = RecordSizes()
    assert pace(clock, sizes, max_bytes_per_batch=1000).end({A0: 100}, {A0: 100}, draining=False) == {A0: 100}
    assert sizes.samples == 0


def test_the_size_seen_last_holds_when_no_record_can_be_seen(clock: Clock) -> None:
    limited = pace(clock, RecordSizes(None, 50.0, None), max_bytes_per_batch=5_000)
    assert [limited.end({A0: 0}, {A0: 10_000}, draining=False)[A0] for _ in range(3)] == [5, 100, 100]


def test_the_first_batch_takes_what_there_is(clock: Clock) -> None:
    assert pace(clock, min_records_per_batch=100).end({A0: 0}, {A0: 3}, draining=False) == {A0: 3}


def test_a_batch_waits_for_enough_records_over_all_partitions(clock: Clock) -> None:
    waiting = pace(clock, min_records_per_batch=10)
    waiting.end({A0: 0}, {A0: 3}, draining=False)
    assert waiting.end({A0: 3, A1: 0}, {A0: 8, A1: 4}, draining=False) == {A0: 3, A1: 0}
    assert waiting.end({A0: 3, A1: 0}, {A0: 8, A1: 5}, draining=False) == {A0: 8, A1: 5}


def test_a_batch_waits_no_longer_than_it_may(clock: Clock) -> None:
    waiting = pace(clock, min_records_per_batch=10, max_batch_delay="5 s")
    waiting.end({A0: 0}, {A0: 3}, draining=False)
    clock.now += 4.9
    assert waiting.end({A0: 3}, {A0: 4}, draining=False) == {A0: 3}
    clock.now += 0.2
    assert waiting.end({A0: 3}, {A0: 4}, draining=False) == {A0: 4}
    assert waiting.end({A0: 4}, {A0: 5}, draining=False) == {A0: 4}


def test_nothing_is_waited_for_when_nothing_more_comes(clock: Clock) -> None:
    waiting = pace(clock, min_records_per_batch=10)
    waiting.end({A0: 0}, {A0: 3}, draining=True)
    assert waiting.end({A0: 3}, {A0: 4}, draining=True) == {A0: 4}
