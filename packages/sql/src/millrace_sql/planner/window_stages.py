"""Windows of local times in streams: the watermark of the column that Spark computes them from.

Spark knows a watermark by the metadata of a column of type TIMESTAMP, which no expression in SQL keeps. Windows of a
TIMESTAMP without a zone, or of the session's zone, are computed from local times, and those of CUMULATE from two
windows; their end is a point in time again, which gets the metadata in a step between two queries.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.dialect.time_zones import is_utc
from millrace_sql.planner.dialect.windows import LARGEST_COLUMN
from millrace_sql.planner.relations import Relation, parse_expression, quoted, spark_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


WATERMARK = {"spark.watermarkDelayMs": 0}
"""Metadata by which Spark knows that a column has a watermark; the delay is that of the table's."""


@dataclass(frozen=True)
class WindowStage:
    """A table of rows with their windows.

    Attributes:
        view_name: The view that the query reads.
        query: What computes the windows.
    """

    view_name: str
    query: exp.Expr

    def create_view(self, spark: SparkSession) -> None:
        """Create the view."""
        from pyspark.sql import functions as fn

        rows = spark.sql(spark_sql(self.query))
        rows = rows.withColumn("window_time", fn.col("window_time").cast("timestamp"))
        rows.withMetadata("window_time", WATERMARK).createOrReplaceTempView(self.view_name)


def stage_windows(analysis: Analysis, node: exp.Select, relation: Relation) -> Relation:
    """Compute windows of local times in a stage of their own, where a SELECT makes them of a column with a watermark.

    Args:
        analysis: The walk through the query, which gets the stage.
        node: The SELECT; its tree becomes a read of the stage.
        relation: Its result.

    Returns:
        The result, whose ``window_time`` has a watermark too.
    """
    column, is_cumulating = _time_column(node)
    if column not in relation.event_time:
        return relation
    windows = replace(relation, event_time=relation.event_time | {"window_time"})
    if is_utc(analysis.time_zone) and not (is_cumulating or is_local_time(relation, column)):
        return windows
    stage = WindowStage(f"millrace_windows_{uuid.uuid4().hex[:12]}", node.copy())
    analysis.add_stage(stage)
    analysis.is_rewritten = True
    read = parse_expression(f"SELECT * FROM {quoted(stage.view_name)}")  # noqa: S608 - a generated name
    for name in list(node.args):
        node.set(name, None)
    for name, part in read.args.items():
        node.set(name, part)
    return windows


def is_local_time(relation: Relation, column: str) -> bool:
    """Return whether a column is a TIMESTAMP without a time zone."""
    type_: Any = relation.types.get(column)
    return type_ is not None and type_.typeName() == "timestamp_ntz"


def _time_column(node: exp.Select) -> tuple[str, bool]:
    """Return the column that a table function of windows computes them from, and whether the function is CUMULATE.

    The column is in lower case; empty for other queries.
    """
    if not any(item.alias == "window_time" for item in node.expressions):
        return "", False
    inner: Any = node
    for marker in ("__window", "", LARGEST_COLUMN):  # by the depths at which `window_select` writes them
        from_ = inner.args.get("from_")
        inner = from_.this.this if from_ is not None and isinstance(from_.this, exp.Subquery) else None
        if not isinstance(inner, exp.Select):
            break
        window = next((item.this for item in inner.expressions if marker and item.alias == marker), None)
        column = window.find(exp.Column) if window is not None else None
        if column is not None:
            return column.name.lower(), marker == LARGEST_COLUMN
    return "", False
