from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.api.session_events import FollowedSessions, SessionEvents, reports_of
from millrace.contracts import QueryReport
from millrace.contracts.jobs import JobDescription, JobTable, PipelineCounts, RunningJobs
from millrace.contracts.metrics import SinkMetrics
from support.followed_session import FollowedSession
from support.waiting import PATIENCE_S

TIME = "2026-01-01T00:00:01.500Z"


def started(run: str = "r1") -> Any:
    return SimpleNamespace(id="q", runId=run, name="copy", timestamp=TIME)


def progress(batch: int, rows: int = 4, run: str = "r1") -> Any:
    return SimpleNamespace(
        progress=SimpleNamespace(
            id="q",
            runId=run,
            name="copy",
            timestamp=TIME,
            batchId=batch,
            numInputRows=rows,
            inputRowsPerSecond=float("nan"),
            processedRowsPerSecond=8.0,
            durationMs={"addBatch": 30, "triggerExecution": 40},
            sources=[],
            eventTime={},
        )
    )


def terminated(error: str | None = None, run: str = "r1") -> Any:
    return SimpleNamespace(id="q", runId=run, exception=error)


@pytest.fixture
def reports() -> list[QueryReport]:
    return []


class _Follower:
    def __init__(self, reports: list[QueryReport]) -> None:
        self.receive = reports.append
        self.is_told_of_the_end = threading.Event()

    def session_ended(self) -> None:
        self.is_told_of_the_end.set()


def events_for(reports: list[QueryReport], jobs: RunningJobs | None = None) -> SessionEvents:
    events = SessionEvents(jobs or RunningJobs())
    events.followers = (_Follower(reports),)
    return events


@pytest.fixture
def events(reports: list[QueryReport]) -> SessionEvents:
    return events_for(reports)


def test_each_event_gives_a_report(events: SessionEvents, reports: list[QueryReport]) -> None:
    events.onQueryStarted(started())
    events.onQueryProgress(progress(0))
    events.onQueryIdle(SimpleNamespace(id="q", runId="r1", timestamp="2026-01-01T00:00:11.500Z"))
    events.onQueryTerminated(terminated())
    assert [(r.batch_id, r.has_run, r.is_active, r.error) for r in reports] == [
        (None, False, True, None),
        (0, True, True, None),
        (0, False, True, None),
        (0, False, False, None),
    ]
    assert reports[2].time - reports[1].time == 10
    assert (reports[1].phases["addBatch"], reports[1].input_rows_per_second) == (30, 0.0)


def test_idle_intervals_of_a_querys_past_are_no_micro_batches() -> None:
    idle = progress(2, rows=0).progress
    idle.durationMs = {"latestOffset": 3, "triggerExecution": 3}
    past = reports_of([progress(0).progress, progress(1, rows=0).progress, idle])
    assert [(report.batch_id, report.has_run) for report in past] == [(0, True), (1, True), (2, False)]


class _Pipeline:
    def describe(self) -> JobDescription:
        return JobDescription("pipeline", "copy", ("q",), True)


def test_a_report_has_what_the_pipeline_of_its_query_has_counted(reports: list[QueryReport]) -> None:
    counted, jobs = [PipelineCounts()], RunningJobs()
    jobs.add(_Pipeline(), {"q": lambda: counted[-1]})
    events = events_for(reports, jobs)
    events.onQueryStarted(started())
    counted.append(PipelineCounts((JobTable("shop.customers", changes=5),), schema_changes=1))
    events.onQueryProgress(progress(0))
    events.onQueryStarted(SimpleNamespace(id="another", runId="r2", name="another", timestamp=TIME))
    assert [report.pipeline for report in reports] == [*counted, None]


def test_a_report_without_rows_repeats_no_micro_batch(events: SessionEvents, reports: list[QueryReport]) -> None:
    events.onQueryProgress(progress(3))
    events.onQueryProgress(progress(3, rows=0))
    assert [report.has_run for report in reports] == [True, False]


def test_the_end_has_the_sentence_of_the_failure(events: SessionEvents, reports: list[QueryReport]) -> None:
    events.onQueryStarted(started())
    failure = "pyspark.errors.X: oops\nmillrace.errors.UnknownTopicError: topic 'a' does not exist; create it"
    events.onQueryTerminated(terminated(failure))
    assert reports[-1].error == "topic 'a' does not exist; create it"


def test_a_sink_is_added_to_the_query_of_its_name(events: SessionEvents, reports: list[QueryReport]) -> None:
    events.onQueryProgress(progress(0))
    events.on_metrics("another", SinkMetrics(num_records_out=9))
    events.on_metrics("copy", SinkMetrics(num_records_out=5))
    events.onQueryProgress(progress(1))
    assert [report.sink and report.sink.num_records_out for report in reports] == [None, 5, 5]


def test_all_that_follow_a_session_share_its_listener_and_its_reports() -> None:
    session, sessions = FollowedSession(), FollowedSessions()
    first: list[QueryReport] = []
    second: list[QueryReport] = []
    page, chart = _Follower(first), _Follower(second)
    sessions.follow(session.spark, page)
    session.listeners[0].onQueryStarted(started())
    sessions.follow(session.spark, chart)
    sessions.follow(session.spark, chart)
    (listener,) = session.listeners
    listener.onQueryProgress(progress(0))
    assert len(session.settings) == 1
    assert [report.batch_id for report in first] == [None, 0]
    assert len(second) == 1
    assert second[0] is first[1]
    sessions.leave(page)
    listener.onQueryTerminated(terminated())
    assert (len(first), second[-1].is_active) == (2, False)
    assert session.listeners == [listener]
    sessions.leave(chart)
    sessions.leave(chart)
    assert (session.listeners, session.settings) == ([], {})


def test_sessions_have_listeners_of_their_own() -> None:
    one, other, sessions = FollowedSession(), FollowedSession(), FollowedSessions()
    first: list[QueryReport] = []
    second: list[QueryReport] = []
    pages = [_Follower(first), _Follower(second)]
    sessions.follow(one.spark, pages[0])
    sessions.follow(other.spark, pages[1])
    one.listeners[0].onQueryProgress(progress(0))
    sessions.on_metrics(pages[1], "copy", SinkMetrics(num_records_out=9))
    sessions.on_metrics(pages[0], "copy", SinkMetrics(num_records_out=5))
    assert [report.sink and report.sink.num_records_out for report in first] == [None, 5]
    assert second == []
    for page in pages:
        sessions.leave(page)
    assert (one.listeners, other.listeners) == ([], [])


def test_a_session_is_followed_again_after_all_have_left_it() -> None:
    session, sessions = FollowedSession(), FollowedSessions()
    reports: list[QueryReport] = []
    page = _Follower(reports)
    for _ in range(2):
        sessions.follow(session.spark, page)
        session.listeners[0].onQueryProgress(progress(0))
        sessions.leave(page)
    assert [report.has_run for report in reports] == [True, True]
    assert session.listeners == []


def test_the_end_of_a_session_ends_its_queries_and_is_told() -> None:
    session, sessions = FollowedSession(), FollowedSessions(interval_s=0.01)
    reports: list[QueryReport] = []
    page = _Follower(reports)
    sessions.follow(session.spark, page)
    session.listeners[0].onQueryProgress(progress(0))
    session.spark.is_stopped = True
    assert page.is_told_of_the_end.wait(PATIENCE_S)
    sessions.leave(page)
    assert [(report.is_active, report.error) for report in reports[:2]] == [(True, None), (False, None)]
    # A session that was stopped is asked for nothing any more
    assert session.left_by is None
