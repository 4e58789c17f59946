"""Tell whether the queries of a session are well, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from millrace.contracts import QueryReport
from millrace_ui.query_history import QueryHistory

SILENT_AFTER_S = 60.0
"""The seconds without any event after which a query may be silent: Spark reports one that is idle every 10 seconds."""

_ASK_WHY = "ask why it stands still with millrace.why(query)"


class Health(NamedTuple):
    """The state of a session.

    Attributes:
        is_well: Whether no query has failed, and none stands still.
        sentence: The reason.
    """

    is_well: bool
    sentence: str


def health_of(histories: Iterable[QueryHistory], now: float, stalled_after_s: float) -> Health:
    """Return whether all queries are well.

    Args:
        histories: The histories of the queries.
        now: The time in seconds since 1970.
        stalled_after_s: The seconds without progress after which a query that has something to read stands still.
    """
    running = 0
    for history in histories:
        running += history.report.is_active
        sentence = _failure(history.report) or standstill_of(history, now, stalled_after_s)
        if sentence:
            return Health(False, sentence)
    return Health(True, f"{running} queries run" if running != 1 else "1 query runs")


def _failure(report: QueryReport) -> str:
    return "" if report.error is None else f"query {report.query!r} has ended: {report.error}"


def standstill_of(history: QueryHistory, now: float, stalled_after_s: float) -> str:
    """Return the sentence that says that a query stands still; nothing where it goes on, or has ended.

    Args:
        history: Its history.
        now: The time in seconds since 1970.
        stalled_after_s: The seconds without progress after which a query that has something to read stands still.
    """
    report = history.report
    name = f"query {report.query!r}"
    if not report.is_active:
        return ""
    standstill, silence = now - history.progressed_at, now - history.heard_at
    lag = sum(source.pending_records for source in report.sources)
    if lag and standstill > stalled_after_s:
        hidden = sum(source.last_stable_offset_lag for source in report.sources)
        waiting = f"{lag} records wait" + (f", {hidden} of them behind open transactions" if hidden else "")
        return f"{name} has made no progress for {standstill:.0f} s, and {waiting}; {_ASK_WHY}"
    if silence > max(stalled_after_s, SILENT_AFTER_S):
        return (
            f"{name} has reported neither a micro-batch nor that it is idle for {silence:.0f} s: brokers do not "
            f"answer, or its micro-batch takes that long; {_ASK_WHY}"
        )
    return ""
