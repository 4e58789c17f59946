from __future__ import annotations

from millrace.contracts.jobs import MAX_JOBS, JobDescription, JobTable, RunningJobs
from millrace_ui.jobs_view import jobs_view
from millrace_ui.query_history import Histories
from support.query_reports import report


class _Job:
    def __init__(self, name: str) -> None:
        self._name = name

    def describe(self) -> JobDescription:
        tables = (JobTable("shop.customers", 5, 2, 1000, "a column cannot change", 3),)
        return JobDescription("pipeline", self._name, ("id-1",), True, tables, kafka={"sasl.password": "hush"})


def test_a_job_has_the_lag_of_its_queries_and_no_secret() -> None:
    jobs, histories = RunningJobs(), Histories()
    jobs.add(_Job("shop"))
    histories.add(report(3, 4))
    (shown,) = jobs_view(jobs.descriptions(), histories.histories())
    assert (shown["name"], shown["lag"], shown["state"]) == ("shop", 7, "running")
    assert shown["tables"][0]["paused"] == "a column cannot change"
    assert "hush" not in repr(shown) + repr(jobs.descriptions())


def test_the_newest_jobs_are_remembered() -> None:
    jobs = RunningJobs()
    for number in range(MAX_JOBS + 3):
        jobs.add(_Job(f"job {number}"))
    names = [job.name for job in jobs.descriptions()]
    assert (len(names), names[0], names[-1]) == (MAX_JOBS, f"job {MAX_JOBS + 2}", "job 3")
