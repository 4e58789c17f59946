from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from millrace.api.followers import FOLLOWERS, follow_session
from millrace.api.query_events import QueryEvents
from millrace.api.session_events import FollowedSessions
from millrace.contracts import QueryReport
from millrace.monitoring.trace_report import SETTING, TraceReport
from support.followed_session import FollowedSession

TIME = "2026-01-01T00:00:01.500Z"
REPORT = QueryReport("copy", "q", "r1", 1000.0, batch_id=0, has_run=True)


@pytest.fixture
def session() -> FollowedSession:
    return FollowedSession()


@pytest.fixture
def reports() -> list[QueryReport]:
    return []


@pytest.fixture
def sessions() -> FollowedSessions:
    return FollowedSessions()


@pytest.fixture
def follower(reports: list[QueryReport], sessions: FollowedSessions) -> Iterator[QueryEvents]:
    made = QueryEvents(reports.append, sessions=sessions)
    yield made
    made.leave()


def test_a_failure_of_the_receiver_is_logged_once_and_is_no_others_failure(
    reports: list[QueryReport],
    follower: QueryEvents,
    session: FollowedSession,
    sessions: FollowedSessions,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(report: QueryReport) -> None:
        raise OSError("no route")

    failing = QueryEvents(fail, sessions=sessions)
    failing.follow(session.spark)
    follower.follow(session.spark)
    with caplog.at_level(logging.ERROR, "millrace.metrics"):
        for run in ("r1", "r2"):
            session.listeners[0].onQueryStarted(SimpleNamespace(id="q", runId=run, name="copy", timestamp=TIME))
    failing.leave()
    assert [report.run_id for report in reports] == ["r1", "r2"]
    assert [record.getMessage() for record in caplog.records] == [
        "a report of query 'copy' failed; later failures are not logged"
    ]


def test_sessions_of_pipelines_are_followed_too(follower: QueryEvents, session: FollowedSession) -> None:
    own = FollowedSession()
    follower.follow(session.spark)
    follow_session(own.spark)
    assert (len(session.listeners), len(own.listeners)) == (1, 1)
    follower.leave()
    assert (session.is_left, own.is_left, follower in FOLLOWERS) == (True, True, False)


def test_traces_go_to_those_that_asked_for_them(
    reports: list[QueryReport], follower: QueryEvents, session: FollowedSession, sessions: FollowedSessions
) -> None:
    traced: list[QueryReport] = []
    tracing = QueryEvents(traced.append, 2, sessions=sessions)
    tracing.follow(session.spark)
    assert SETTING in session.settings
    tracing._traces.add(TraceReport("r1", 0, ("a", "b", "c")))
    for events in (tracing, follower):
        events.receive(REPORT)
    tracing.leave()
    assert traced[0].traceparents == ("a", "b")
    assert reports[0].traceparents == ()
    assert session.settings == {}
