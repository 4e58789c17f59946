from __future__ import annotations

import dataclasses

import pytest

from millrace.contracts import QueryReport
from millrace_ui.health import Health, health_of
from millrace_ui.query_history import Histories
from support.query_reports import partition, report, source


def health(*reports: QueryReport, now: float) -> Health:
    histories = Histories()
    for each in reports:
        histories.add(each)
    return health_of(histories.histories(), now, 300)


def idle(last: QueryReport, at: float) -> QueryReport:
    return dataclasses.replace(last, time=at, has_run=False)


@pytest.mark.parametrize(
    ("reports", "now"),
    [
        ([report(0, time=1000.0), idle(report(0), 8995.0)], 9000.0),
        ([report(5, time=1000.0)], 1050.0),
        ([report(5, time=1000.0, phases={"triggerExecution": 400_000})], 1500.0),
        ([report(5, time=1000.0, is_active=False)], 9000.0),
        ([report(batch=None, time=1000.0)], 1050.0),
        ([report(time=1000.0)], 1050.0),
        ([report(5, time=1000.0, has_run=False)], 1050.0),
    ],
    ids=[
        "nothing to read",
        "lately",
        "a long micro-batch has just ended",
        "stopped",
        "starting",
        "no source of ours",
        "seen late",
    ],
)
def test_it_is_well(reports: list[QueryReport], now: float) -> None:
    running = "1 query runs" if reports[-1].is_active else "0 queries run"
    assert health(*reports, now=now) == (True, running)


def test_a_query_that_has_failed_is_told() -> None:
    failed = report(1, is_active=False, error="topic 'orders' does not exist")
    assert health(failed, now=1000.0) == (False, "query 'copy' has ended: topic 'orders' does not exist")


def test_the_one_of_several_queries_that_has_failed_is_told() -> None:
    other = report(1, query="clean", query_id="id-2", run_id="run-2")
    failed = dataclasses.replace(other, is_active=False, error="topic 'orders' does not exist")
    assert health(report(0), failed, now=1000.0) == (
        False,
        "query 'clean' has ended: topic 'orders' does not exist",
    )
    again = dataclasses.replace(other, run_id="run-3")
    assert health(report(0), failed, again, now=1000.0) == (True, "2 queries run")


def test_a_query_that_stands_still_is_told() -> None:
    assert health(report(5, 6, time=1000.0), now=1301.1) == (
        False,
        "query 'copy' has made no progress for 301 s, and 11 records wait; ask why it stands still with "
        "millrace.why(query)",
    )


def test_records_that_stay_behind_an_open_transaction_are_told() -> None:
    hidden = dataclasses.replace(source(partition(0, 11)), last_stable_offset_lag=11)
    last = report(sources=(hidden,), time=1000.0)
    assert health(last, idle(last, 1395.0), now=1400.1) == (
        False,
        "query 'copy' has made no progress for 400 s, and 11 records wait, 11 of them behind open transactions; ask "
        "why it stands still with millrace.why(query)",
    )


def test_silence_is_told_although_nothing_waited_when_it_began() -> None:
    assert health(report(0, time=1000.0), now=1301.1) == (
        False,
        "query 'copy' has reported neither a micro-batch nor that it is idle for 301 s: brokers do not answer, or its "
        "micro-batch takes that long; ask why it stands still with millrace.why(query)",
    )
