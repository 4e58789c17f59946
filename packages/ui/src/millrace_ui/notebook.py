"""A live chart of a query's lag, for notebooks."""

from __future__ import annotations

import dataclasses
import logging
import re
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from millrace.api.query_events import QueryEvents
from millrace.api.session_events import reports_of
from millrace.contracts import QueryReport
from millrace.errors import MachineError
from millrace.failures import sentence_of
from millrace_ui.query_history import Histories
from millrace_ui.views import lag_view

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MachineError(
        "the lag chart of notebooks needs anywidget; install it with: pip install 'millrace-ui[notebook]'"
    ) from error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

logger = logging.getLogger("millrace.ui")

INTERVAL_S = 0.5
"""The seconds between two drawings: micro-batches may be shorter."""

REDRAW_S = 5.0
"""The seconds after which an active query is drawn without a report: one that is stuck sends none."""

_FOLDER = Path(__file__).parent
_MODULES = ("page/texts.js", "page/dom.js", "page/charts.js", "notebook.js")


def _script() -> str:
    """Return the page's modules and the widget's as one: a notebook gets a text, which cannot import files."""
    text = "\n".join((_FOLDER / name).read_text() for name in _MODULES)
    without_imports = re.sub(r"^import .*;$", "", text, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", without_imports, flags=re.MULTILINE)


def _style() -> str:
    """Return the page's colours and styles of charts, for the widget alone."""
    colors = (_FOLDER / "page/colors.css").read_text().replace(":root", ".millrace-chart")
    rules = "\n".join((_FOLDER / name).read_text() for name in ("page/charts.css", "notebook.css"))
    return f"{colors}\n.millrace-chart {{\n{rules}\n}}"


class LagChart(anywidget.AnyWidget):
    """A chart of a query's lag that a notebook draws anew with each report. `lag_chart` makes it follow a query.

    Args:
        query_id: The id of the query.
        name: The name to show until the first report.
        past: The reports that there are already, which are drawn at once.

    Attributes:
        shown: What is drawn, as values of JSON.
    """

    _esm = _script()
    _css = _style()
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, query_id: str, name: str, past: Iterable[QueryReport] = ()) -> None:
        super().__init__(shown={"name": name, "state": "starting", "lines": [], "trend": []})
        self._query_id = query_id
        self._histories = Histories()
        self._events = QueryEvents(self.add)
        # An observer of what is drawn may add a report, or close the chart
        self._lock = threading.RLock()
        # Leaving waits for the listener, which may wait for the lock above
        self._following = threading.Lock()
        self._drawn_at = 0.0
        self._timer: threading.Timer | None = None
        self._timer_at = 0.0
        self._has_ended = False
        self._is_closed = False
        for report in past:
            self._histories.add(report)
        self._draw()

    def follow(self, spark: SparkSession) -> None:
        """Follow the queries of a session until the query's end is drawn, or the chart is closed."""
        with self._following:
            self._events.follow(spark)

    def add(self, report: QueryReport) -> None:
        """Add a report of the query; those of others are left out."""
        if report.query_id != self._query_id:
            return
        with self._lock:
            self._histories.add(report)
            due = self._drawn_at + INTERVAL_S
            if due > time.monotonic():
                self._draw_at(due)
            else:
                self._draw()

    def close(self) -> None:
        """Follow the query no longer, and take the chart away. Nothing happens the second time."""
        with self._lock:
            self._is_closed = True
            self._cancel()
        self._leave()
        super().close()

    def _draw(self) -> None:
        with self._lock:
            history = self._histories.history(self._query_id)
            if history is None or self._is_closed:
                return
            self._cancel()
            self._drawn_at = time.monotonic()
            self.shown = lag_view(history, time.time())
            if history.report.is_active:
                self._draw_at(self._drawn_at + REDRAW_S)
            elif not self._has_ended:
                self._has_ended = True
                # Spark's listener calls this, and cannot be removed from within
                threading.Thread(target=self._leave_after_end, daemon=True).start()

    def _draw_at(self, due: float) -> None:
        """Draw at a time of the monotonic clock; nothing happens where that is due earlier, or the chart is closed."""
        if self._is_closed or (self._timer is not None and self._timer_at <= due):
            return
        self._cancel()
        self._timer_at = due
        self._timer = threading.Timer(due - time.monotonic(), self._draw)
        self._timer.daemon = True
        self._timer.start()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _leave(self) -> None:
        _forget(self)
        with self._following:
            self._events.leave()

    def _leave_after_end(self) -> None:
        try:
            self._leave()
        except Exception:
            # A query also ends because its session does, which has no listeners any longer
            logger.debug("the session of an ended query cannot be left", exc_info=True)


_CHARTS: dict[str, LagChart] = {}
"""The charts that follow a query, by its run, which is of one session."""

# The garbage collector closes charts at any moment, also in a thread that holds the lock
_CHARTS_LOCK = threading.RLock()


def _forget(chart: LagChart) -> None:
    with _CHARTS_LOCK:
        for key in [key for key, other in _CHARTS.items() if other is chart]:
            del _CHARTS[key]


def lag_chart(query: StreamingQuery, spark: SparkSession | None = None) -> LagChart:
    """Return a live chart of a running query's lag: a notebook shows it as the last value of a cell.

    It has the lag of all partitions, or of those with the largest, since the query started, as far as Spark remembers
    it, and says when the query stands still, has been stopped or has failed. It needs no server: reports come by the
    session's listener, until the query has ended. A second call for the same run returns the same chart.

    Args:
        query: The query, of a classic or of a Connect session.
        spark: Its session; None for the active one.

    Raises:
        MachineError: anywidget is not installed.

    Example::

        millrace_ui.lag_chart(query)
    """
    from pyspark.sql import SparkSession

    spark = spark or SparkSession.active()
    started = QueryReport(query.name or str(query.id), str(query.id), str(query.runId), time.time())
    with _CHARTS_LOCK:
        if started.run_id in _CHARTS:
            return _CHARTS[started.run_id]
        past = [*reports_of(query.recentProgress)] or [started]
        chart = LagChart(started.query_id, started.query, past)
        _CHARTS[started.run_id] = chart
    try:
        _follow_until_end(chart, query, spark, past[-1])
    except BaseException:
        chart.close()
        raise
    return chart


def _follow_until_end(chart: LagChart, query: StreamingQuery, spark: SparkSession, last: QueryReport) -> None:
    chart.follow(spark)
    # A query that ended before the listener was there sends no event
    if not query.isActive:
        failure = query.exception()
        error = None if failure is None else sentence_of(failure)
        chart.add(dataclasses.replace(last, is_active=False, error=error, has_run=False))
