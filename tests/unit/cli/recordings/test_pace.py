"""The times at which messages of a recording are written."""

from __future__ import annotations

import pytest

from millrace.kafka.retry import Clock
from millrace_cli.recordings.contents import Extent
from millrace_cli.recordings.pace import Pace, shift_to_now, written_time_note


@pytest.mark.parametrize(
    ("speed", "waits"), [(None, [0, 0, 0, 0]), (1, [0, 4, 0, 9]), (2, [0, 1.5, 0, 4]), (0.5, [0, 9, 1, 19])]
)
def test_gaps_are_as_recorded_or_shorter_or_longer(speed: float | None, waits: list[float]) -> None:
    # A second passes before the second message
    times = iter([100.0, 101.0, 101.0, 101.0] if speed else [])
    pace = Pace(speed, Clock(now=lambda: next(times)))
    assert [pace.wait_s(timestamp) for timestamp in (50_000, 55_000, 51_000, 60_000)] == waits
    assert pace.wait_s(None) == 0


NOW = 1_000_000


@pytest.mark.parametrize(
    ("speed", "oldest", "newest"),
    [(None, NOW - 400, NOW), (1, NOW, NOW + 400), (4, NOW - 300, NOW + 100), (0.5, NOW, NOW + 400)],
)
def test_timestamps_are_moved_to_the_present_and_none_into_the_future(
    speed: float | None, oldest: int, newest: int
) -> None:
    shift = shift_to_now(Extent(2, (0,), 500, 900), speed, NOW)
    assert (500 + shift, 900 + shift) == (oldest, newest)


def test_without_timestamps_there_is_nothing_to_move() -> None:
    assert shift_to_now(Extent(0, (), None, None), None, NOW) == 0


@pytest.mark.parametrize(
    ("extent", "shift", "expected"),
    [
        (Extent(2, (0,), 0, 900), 0, "some messages have the timestamp 0: they get the time at which they are written"),
        (Extent(2, (0,), 5, 900, 1), 0, "some messages have no timestamp: they get the time at which they are written"),
        (Extent(2, (0,), 0, 900, 1), 0, "some messages have no timestamp or have the timestamp 0: they get the time"),
        (Extent(2, (0,), 0, 900), NOW, None),
        (Extent(2, (0,), 5, 900), 0, None),
    ],
)
def test_messages_that_get_the_time_at_which_they_are_written_are_told(
    extent: Extent, shift: int, expected: str | None
) -> None:
    note = written_time_note(extent, shift)
    assert note is None if expected is None else (note or "").startswith(expected)
