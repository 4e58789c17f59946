"""Replicate a topic into a table sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from millrace_catalog.evolution.restart import EvolvingQuery, restart_on_schema_change
from millrace_catalog.sinks.computed_columns import ComputedColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace_catalog.sinks.table_sink import ReplicationSink
    from millrace_catalog.tables.table import KafkaJsonTable
    from millrace_catalog.types import Schema

_ALL_ROWS = {"scan.startup.mode": "earliest-offset"}


def replicate(
    table: KafkaJsonTable,
    sink: ReplicationSink,
    *,
    spark: SparkSession,
    checkpoint_location: str,
    computed_columns: Mapping[str, str] | None = None,
    column_places: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> EvolvingQuery:
    """Start a query that writes a topic's rows into a sink, whose columns follow those of the topic.

    Each message is one row with the key (partition, offset), in upsert tables too. A row that the sink has is not
    written again, whatever is replayed, even by a query with a new checkpoint. One query at a time may write into a
    sink.

    Args:
        table: A table of a catalog.
        sink: Sink of its rows; it is created if it does not exist.
        spark: A classic session.
        checkpoint_location: Location of the query's checkpoint.
        computed_columns: Columns to add behind those of the table: by name, Spark SQL expressions over the table's
            columns with one value per row. They keep their places; later columns of the table come behind them.
        column_places: Places of computed columns in a sink that is created: by name, the column before it, or an empty
            text for the first place. By default they come last.
        options: Further data source options. The default of ``scan.startup.mode`` is ``earliest-offset``, so that the
            sink gets all rows of the topic.
        trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"processingTime": "10 seconds"}``.

    Returns:
        The running query.

    Raises:
        SchemaError: A computed column has the name of a column of the table, its expression is wrong, or the sink
            cannot hold the columns. A later column of the table with the name of a computed one ends the query.
        MachineError: The session lacks what the sink needs.
    """
    computed = ComputedColumns(computed_columns or {}, table.name, column_places)

    def start(rows: DataFrame, schema: Schema) -> StreamingQuery:
        with_computed, columns = computed.add_to(rows, schema)
        sink.prepare(spark, columns)
        writer = with_computed.writeStream.foreachBatch(lambda batch, _: sink.append(batch))
        writer = writer.option("checkpointLocation", checkpoint_location)
        return (writer.trigger(**trigger) if trigger else writer).start()

    return restart_on_schema_change(
        table, start, spark=spark, checkpoint_location=checkpoint_location, options={**_ALL_ROWS, **(options or {})}
    )
