"""Watermarks of tables, as Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace_catalog.types.identifiers import backquote
from millrace_sql.definitions.event_time import watermark_delay_ms
from millrace_sql.statements import Watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EVENT_TIME = "__event_time"


def with_watermark(rows: DataFrame, watermark: Watermark) -> DataFrame:
    """Return a stream with the watermark of its table.

    Spark takes points in time only: for a TIMESTAMP without a time zone, the watermark follows a column that is the
    session's point in time of it, and that no query sees.

    Args:
        rows: The stream.
        watermark: The watermark.
    """
    from pyspark.sql import functions as fn

    column, delay = backquote(watermark.column), f"{watermark_delay_ms(watermark)} milliseconds"
    type_ = next(field.dataType for field in rows.schema if field.name.lower() == watermark.column.lower())
    if type_.typeName() != "timestamp_ntz":
        return rows.withWatermark(column, delay)
    return (
        rows.withColumn(_EVENT_TIME, fn.col(column).cast("timestamp"))
        .withWatermark(_EVENT_TIME, delay)
        .drop(_EVENT_TIME)
    )
