from __future__ import annotations

import dataclasses

from millrace.contracts.jobs import MAX_JOBS, JobDescription, JobTable, RunningJobs
from millrace.contracts.metrics import SinkMetrics
from millrace_ui.jobs_view import jobs_view
from millrace_ui.query_history import Histories
from support.query_reports import partition, report, source


class _Job:
    def __init__(self, name: str) -> None:
        self._name = name
        self.tables = (JobTable("shop.customers", 5, 2, 1000, "a column cannot change", 3),)

    def describe(self) -> JobDescription:
        return JobDescription("pipeline", self._name, ("id-1",), True, self.tables, kafka={"sasl.password": "hush"})


def test_a_job_has_the_lag_of_its_queries_and_no_secret() -> None:
    jobs, histories = RunningJobs(), Histories()
    jobs.add(_Job("shop"))
    read = dataclasses.replace(report(3, 4).sources[0], num_records_in=10)
    histories.add(report(sources=(read,), sink=SinkMetrics(num_records_out=8)))
    (shown,) = jobs_view(jobs.descriptions(), histories.histories())
    assert (shown["name"], shown["lag"], shown["state"]) == ("shop", 7, "running")
    assert (shown["rowsRead"], shown["rowsWritten"]) == (10, 8)
    assert shown["tables"][0]["paused"] == "a column cannot change"
    assert "hush" not in repr(shown) + repr(jobs.descriptions())


def test_a_table_has_the_lag_of_its_topics_in_the_source_that_is_furthest_behind() -> None:
    job = _Job("joined")
    job.tables = (
        JobTable("orders", topics=("orders",)),
        JobTable("regions", topic_pattern="region-[a-z]+"),
        JobTable("results"),
    )
    regions = source(*(partition(0, lag, f"region-{name}") for name, lag in {"eu": 4, "us": 8, "7": 100}.items()))
    sources = (source(partition(0, 1), partition(1, 2)), source(partition(0, 9)), regions)
    jobs, histories = RunningJobs(), Histories()
    jobs.add(job)
    histories.add(report(sources=sources))
    (shown,) = jobs_view(jobs.descriptions(), histories.histories())
    assert [(table["lag"], table["recordsRead"]) for table in shown["tables"]] == [(9, 5), (12, 10), (None, None)]


def test_rows_of_a_job_that_has_not_reported_are_unknown() -> None:
    jobs = RunningJobs()
    jobs.add(_Job("shop"))
    (shown,) = jobs_view(jobs.descriptions(), [])
    assert (shown["lag"], shown["rowsRead"], shown["rowsWritten"]) == (None, None, None)


def test_the_newest_jobs_are_remembered() -> None:
    jobs = RunningJobs()
    for number in range(MAX_JOBS + 3):
        jobs.add(_Job(f"job {number}"))
    names = [job.name for job in jobs.descriptions()]
    assert (len(names), names[0], names[-1]) == (MAX_JOBS, f"job {MAX_JOBS + 2}", "job 3")
