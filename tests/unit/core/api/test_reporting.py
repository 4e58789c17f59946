"""A reporter is closed by its user, with its session, or at the end of the program."""

from __future__ import annotations

import os
import subprocess
import sys

import millrace
from millrace.api.reporting import MetricsReport
from millrace.contracts import MetricsReporter, QueryReport
from support.followed_session import FollowedSession
from support.waiting import wait_until

PROGRAM = f"""
import millrace
from support.followed_session import FollowedSession
millrace.report_metrics(FollowedSession().spark, "{__name__}:Closing")
print("the program ends")
"""


class Closing(MetricsReporter):
    """Say how often it was closed."""

    def __init__(self, options: object) -> None:
        self.closed = 0

    def report(self, report: QueryReport) -> None:
        pass

    def close(self) -> None:
        self.closed += 1
        print("closed")


def reporter_of(report: MetricsReport) -> Closing:
    assert isinstance(report.reporter, Closing)
    return report.reporter


def test_it_is_closed_with_its_session() -> None:
    session = FollowedSession()
    report = millrace.report_metrics(session.spark, f"{__name__}:Closing")
    assert len(session.listeners) == 1
    session.spark.is_stopped = True
    wait_until(lambda: reporter_of(report).closed == 1, "the reporter's end")


def test_it_is_closed_by_its_user() -> None:
    session = FollowedSession()
    with millrace.report_metrics(session.spark, f"{__name__}:Closing") as report:
        assert reporter_of(report).closed == 0
    assert (reporter_of(report).closed, session.listeners) == (1, [])


def test_it_is_closed_at_the_end_of_the_program() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment)
    assert ended.stdout.splitlines() == ["the program ends", "closed"]
