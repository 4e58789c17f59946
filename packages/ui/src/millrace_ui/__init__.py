"""A live page of the queries of a Spark session, their metrics for Prometheus, and charts for notebooks.

`lag_chart` shows the lag of a query in a notebook, as a `LagChart`::

    import millrace_ui

    millrace_ui.lag_chart(query)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace_ui.notebook import LagChart, lag_chart

__all__ = ["LagChart", "lag_chart"]

__getattr__, __dir__ = lazy_imports(__name__, {"millrace_ui.notebook": ["LagChart", "lag_chart"]})
