"""A live chart of a query's lag, for notebooks."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from millrace.api.query_events import QueryEvents, reports_of
from millrace.errors import MachineError
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

    from millrace.contracts import QueryReport

INTERVAL_S = 0.5
"""The seconds between two drawings: micro-batches may be shorter."""

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
        self._lock = threading.Lock()
        self._drawn_at = 0.0
        self._timer: threading.Timer | None = None
        for report in past:
            self._histories.add(report)
        self._draw()

    def follow(self, spark: SparkSession) -> None:
        """Follow the queries of a session until the chart is closed."""
        self._events.follow(spark)

    def add(self, report: QueryReport) -> None:
        """Add a report of the query; those of others are left out."""
        if report.query_id != self._query_id:
            return
        self._histories.add(report)
        with self._lock:
            wait = self._drawn_at + INTERVAL_S - time.monotonic()
            if self._timer is not None:
                return
            if wait > 0:
                self._timer = threading.Timer(wait, self._draw)
                self._timer.daemon = True
                self._timer.start()
                return
        self._draw()

    def close(self) -> None:
        """Follow the query no longer, and take the chart away. Nothing happens the second time."""
        self._events.leave()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        super().close()

    def _draw(self) -> None:
        history = self._histories.history(self._query_id)
        with self._lock:
            self._timer = None
            if history is not None:
                self._drawn_at = time.monotonic()
                self.shown = lag_view(history, time.time())


def lag_chart(query: StreamingQuery, spark: SparkSession | None = None) -> LagChart:
    """Return a live chart of a running query's lag: a notebook shows it as the last value of a cell.

    It has the lag of all partitions, or of those with the largest, since the query started, as far as Spark remembers
    it, and says when the query stands still or has failed. It needs no server: reports come by the session's listener.

    Args:
        query: The query, of a classic or of a Connect session.
        spark: Its session; None for the active one.

    Raises:
        MachineError: anywidget is not installed.

    Example::

        millrace_ui.lag_chart(query)
    """
    from pyspark.sql import SparkSession

    chart = LagChart(str(query.id), query.name or str(query.id), reports_of(query.recentProgress))
    chart.follow(spark or SparkSession.active())
    return chart
