"""Keeping a target in step with a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from millrace_catalog.evolution.restart import EvolvingQuery, restart_on_schema_change
from millrace_catalog.sinks.computed_columns import AddedColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace_catalog.sinks.table_sink import TableSink
    from millrace_catalog.tables.table import KafkaJsonTable
    from millrace_catalog.types import Schema

_ALL_ROWS = {"scan.startup.mode": "earliest-offset"}


def sync(
    table: KafkaJsonTable,
    target: TableSink,
    *,
    spark: SparkSession,
    checkpoint_location: str,
    add_columns: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> EvolvingQuery:
    """Start a query that puts a topic's rows into a target, and makes the target follow the topic's columns.

    Each message gives one row, whose key is (partition, offset), also that of an upsert table: a row that the target
    has is not added again, whatever is replayed, even by a query with another checkpoint. One query at a time writes
    into a target.

    Args:
        table: The table of a catalog.
        target: Where its rows go; it is made if it is missing.
        spark: The session.
        checkpoint_location: The folder for the query's progress.
        add_columns: Columns to add behind those of the table: expressions of Spark's SQL over the latter, one value a
            row, by name. They keep their places; columns that the table gets later come behind them.
        options: Further options of the data source. Without ``scan.startup.mode`` it is ``earliest-offset``, so that
            the target gets what the topic holds already.
        trigger: What `DataStreamWriter.trigger` takes, as ``{"processingTime": "10 seconds"}``.

    Returns:
        The running query.

    Raises:
        SchemaError: An added column has the name of one of the table, its expression is wrong, or the target cannot
            hold the columns. When the table gets a column with the name of an added one later, the query ends with it.
        MachineError: The session lacks what the target needs.
    """
    added = AddedColumns(add_columns or {}, table.name)

    def start(rows: DataFrame, schema: Schema) -> StreamingQuery:
        wider, columns = added.to(rows, schema)
        target.prepare(spark, columns)
        writer = wider.writeStream.foreachBatch(lambda batch, _: target.append(batch))
        writer = writer.option("checkpointLocation", checkpoint_location)
        return (writer.trigger(**trigger) if trigger else writer).start()

    return restart_on_schema_change(
        table, start, spark=spark, checkpoint_location=checkpoint_location, options={**_ALL_ROWS, **(options or {})}
    )
