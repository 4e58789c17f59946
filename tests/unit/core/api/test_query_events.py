from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.api.query_events import QueryEvents, reports_of
from millrace.contracts import QueryReport
from millrace.contracts.jobs import JobDescription, JobTable, PipelineCounts, RunningJobs
from millrace.contracts.metrics import SinkMetrics

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


@pytest.fixture
def events(reports: list[QueryReport]) -> QueryEvents:
    return QueryEvents(reports.append)


def test_each_event_gives_a_report(events: QueryEvents, reports: list[QueryReport]) -> None:
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
    events = QueryEvents(reports.append, jobs=jobs)
    events.onQueryStarted(started())
    counted.append(PipelineCounts((JobTable("shop.customers", changes=5),), schema_changes=1))
    events.onQueryProgress(progress(0))
    events.onQueryStarted(SimpleNamespace(id="another", runId="r2", name="another", timestamp=TIME))
    assert [report.pipeline for report in reports] == [*counted, None]


def test_a_report_without_rows_repeats_no_micro_batch(events: QueryEvents, reports: list[QueryReport]) -> None:
    events.onQueryProgress(progress(3))
    events.onQueryProgress(progress(3, rows=0))
    assert [report.has_run for report in reports] == [True, False]


def test_the_end_has_the_sentence_of_the_failure(events: QueryEvents, reports: list[QueryReport]) -> None:
    events.onQueryStarted(started())
    failure = "pyspark.errors.X: oops\nmillrace.errors.UnknownTopicError: topic 'a' does not exist; create it"
    events.onQueryTerminated(terminated(failure))
    assert reports[-1].error == "topic 'a' does not exist; create it"


def test_a_sink_is_added_to_the_query_of_its_name(events: QueryEvents, reports: list[QueryReport]) -> None:
    events.onQueryProgress(progress(0))
    events.on_metrics("another", SinkMetrics(num_records_out=9))
    events.on_metrics("copy", SinkMetrics(num_records_out=5))
    events.onQueryProgress(progress(1))
    assert [report.sink and report.sink.num_records_out for report in reports] == [None, 5, 5]


def test_a_failure_of_the_receiver_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def fail(report: QueryReport) -> None:
        raise OSError("no route")

    events = QueryEvents(fail)
    with caplog.at_level(logging.ERROR, "millrace.metrics"):
        events.onQueryStarted(started())
        events.onQueryProgress(progress(0))
    assert [record.getMessage() for record in caplog.records] == [
        "a report of query 'copy' failed; later failures are not logged"
    ]
