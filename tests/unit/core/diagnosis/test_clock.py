"""Comparing clocks: how long an answer takes counts for neither of them."""

from __future__ import annotations

import pytest

from millrace.diagnosis import clock
from millrace.diagnosis.clock import Reading
from millrace.diagnosis.executors import compare_clocks
from millrace.diagnosis.findings import Level, ok

ASKED, ANSWERED = 1000.0, 1060.0


@pytest.mark.parametrize(
    ("at", "ahead_s"), [(1000.0, 0), (1030.0, 0), (1060.0, 0), (1070.0, 10), (990.0, -10), (4660.0, 3600)]
)
def test_a_clock_is_right_where_it_may_be_within_the_time_of_an_answer(at: float, ahead_s: float) -> None:
    assert Reading(at, ASKED, ANSWERED).ahead_s == ahead_s


@pytest.mark.parametrize(
    ("at", "level", "message"),
    [
        (1064.0, Level.OK, "the broker's clock and this host's agree within 5 s"),
        (1070.0, Level.WARNING, "the broker's clock is 0:00:10 ahead of this host's"),
        (ASKED - 7200, Level.WARNING, "the broker's clock is 2:00:00 behind this host's"),
    ],
)
def test_the_difference_is_told(at: float, level: Level, message: str) -> None:
    found = clock.compare(Reading(at, ASKED, ANSWERED), "the broker's clock", "b:9092")
    assert (found.check, found.level, found.message) == ("clock", level, message)
    assert ("NTP" in found.remedy) == (level != Level.OK)


def test_each_executors_clock_is_compared_once_by_its_worst_answer() -> None:
    times = [("right", 1010.0), ("right", 1050.0), ("late", 1020.0), ("late", 100.0)]
    findings = [ok("clock", host, repr(at)) for host, at in times]
    told = compare_clocks(
        [type(each)(**{**vars(each), "seen_from": host}) for each, (host, _) in zip(findings, times, strict=True)],
        ASKED,
        ANSWERED,
    )
    assert [(each.seen_from, each.level) for each in told] == [("right", Level.OK), ("late", Level.WARNING)]
    assert "its clock is 0:15:00 behind" in told[1].message


def test_a_time_that_has_passed_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 1000.0)
    assert clock.compare_past("orders", 940.0).message.startswith(
        "the newest time that a broker has written was 0:01:00 ago"
    )
    assert clock.compare_past("orders", 2000.0).level == Level.WARNING
