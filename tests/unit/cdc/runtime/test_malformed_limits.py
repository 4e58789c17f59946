"""Limits of the malformed messages that a pipeline skips."""

from __future__ import annotations

import pytest

from millrace.errors import MessageError
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace_cdc.runtime.malformed_limits import MalformedCounts, MalformedLimits
from millrace_cdc.runtime.task_reports import TaskFindings

T0, T1 = ("t", 0), ("t", 1)


def report(messages: int = 0, malformed: int = 0, **runs: list[bool]) -> TaskFindings:
    """Return the findings of a task; runs by partition and first offset, as ``p0_7``."""
    places = {name: name.removeprefix("p").split("_") for name in runs}
    by_place = {(("t", int(places[name][0])), int(places[name][1])): MalformedRuns.of(runs[name]) for name in runs}
    return TaskFindings(messages=messages, malformed=malformed, runs=by_place)


def test_a_share_is_that_of_all_micro_batches_once_there_are_100_messages() -> None:
    counts = MalformedCounts(MalformedLimits(ratio=0.1))
    counts.add([report(40, 10), report(50, 3)], 13)
    counts.add([report(100, 2)], 15)
    with pytest.raises(MessageError, match=r"20 of 195 messages are malformed, a larger share than .* allows \(0.1\)"):
        counts.add([report(5, 5)], 20)


def test_a_run_goes_on_from_task_to_task_and_from_micro_batch_to_micro_batch_of_its_partition() -> None:
    counts = MalformedCounts(MalformedLimits(consecutive=3))
    # Reports come in any order
    counts.add([report(p0_5=[True, True]), report(p0_0=[False, True], p1_0=[True, True])], 5)
    counts.add([report(p1_2=[False, True])], 6)
    with pytest.raises(MessageError, match=r"one after another in a partition: 4, more than .* allows \(3\)"):
        counts.add([report(p0_7=[True])], 7)


def test_a_run_ends_with_a_sound_message() -> None:
    counts = MalformedCounts(MalformedLimits(consecutive=1))
    for offset in range(0, 10, 2):
        counts.add([TaskFindings(runs={(T0, offset): MalformedRuns.of([True, False])})], 0)
        counts.add([TaskFindings(runs={(T1, offset): MalformedRuns.of([False, True])})], 0)


def test_without_limits_all_are_skipped() -> None:
    MalformedCounts(MalformedLimits()).add([report(100, 100, p0_0=[True] * 100)], 100)
