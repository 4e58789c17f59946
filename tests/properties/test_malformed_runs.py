"""Runs of malformed messages are those of all messages, however these are divided into ranges."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from millrace.monitoring.malformed_runs import MalformedRuns, RangeRuns, joined

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
