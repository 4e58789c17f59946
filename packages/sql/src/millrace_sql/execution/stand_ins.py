"""Rows that stand for those of a query's tables, so that Spark checks the query and nothing is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.execution.tables import BoundDataFrame, BoundTable
from millrace_sql.execution.watermarks import with_watermark
from millrace_sql.planner.model import Scan
from millrace_sql.planner.stand_ins import rows_like

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def columns_of(scan: Scan) -> StructType:
    """Return the columns that a scan reads, that of row kinds included."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = [StructField(column.name, column.type, column.nullable) for column in scan.table.columns]
    kinds = [] if scan.table.changelog_mode.is_insert_only else [StructField(ROW_KIND_COLUMN, StringType())]
    return StructType([*fields, *kinds])


def stand_in(spark: SparkSession, scan: Scan, *, streaming: bool) -> DataFrame:
    """Return rows with the columns of a scan, and with the watermark of its table.

    Args:
        spark: The session.
        scan: The scan.
        streaming: Whether tables that are streams are read as such.
    """
    origin = scan.table.origin
    is_stream = streaming and not (scan.table.is_static or scan.is_lookup)
    if is_stream and isinstance(origin, BoundDataFrame):
        return origin.rows
    rows = rows_like(spark, columns_of(scan), streaming=is_stream)
    if is_stream and isinstance(origin, BoundTable) and origin.watermark is not None:
        return with_watermark(rows, origin.watermark)
    return rows
