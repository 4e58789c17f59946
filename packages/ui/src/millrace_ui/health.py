"""Tell whether the queries of a session are well, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from millrace.contracts import QueryReport


class Health(NamedTuple):
    """The state of a session.

    Attributes:
        is_well: Whether no query has failed, and none stands still.
        sentence: The reason.
    """

    is_well: bool
    sentence: str


def health_of(reports: Iterable[QueryReport], now: float, stalled_after_s: float) -> Health:
    """Return whether all queries are well.

    Args:
        reports: The last report of each query.
        now: The time in seconds since 1970.
        stalled_after_s: The seconds without any report after which a query that has something to read stands still.
    """
    running = 0
    for report in reports:
        running += report.is_active
        if report.error is not None:
            return Health(False, f"query {report.query!r} has ended: {report.error}")
        silence = now - report.time
        lag = sum(source.pending_records for source in report.sources)
        if report.is_active and lag and silence > stalled_after_s:
            sentence = (
                f"query {report.query!r} has made no progress for {silence:.0f} s, and {lag} records wait; "
                f"ask why it stands still with millrace.why(query)"
            )
            return Health(False, sentence)
    return Health(True, f"{running} queries run" if running != 1 else "1 query runs")
