"""Run micro-batches of pipelines into a sink, from changes that stand in for parsed messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from millrace.contracts import CHANGE_BATCH_COLUMNS, ChangeBatch, PipelineSchemaChange, PipelineSink, PipelineTable
from millrace.options.parser import OptionParser
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.runtime.converted_changes import ConvertedChanges
from millrace_cdc.runtime.table_schema import SourceTableSchema


def make_sink(plugin: type[PipelineSink], **given: str) -> Any:
    """Make a sink of its options."""
    parser = OptionParser("sink", given)
    options = parser.take(plugin.Options)
    parser.finish()
    return plugin(options)


class Table(NamedTuple):
    """A table of a sink, with its columns as SQL."""

    id: str
    columns: str
    primary_key: tuple[str, ...] = ()

    def planned(self, **more: Any) -> PipelineTable:
        """Return it as a sink gets it."""
        return PipelineTable(self.id, to_spark_schema(parse_schema(self.columns)), self.primary_key, **more)

    def change(self, type_: Any = "create.table", *columns: str, **more: Any) -> PipelineSchemaChange:
        """Return a schema change, after which it is so."""
        return PipelineSchemaChange(type_, self.planned(**more), columns, 1)


def micro_batch(
    spark: SparkSession,
    number: int,
    tables: Sequence[Table],
    changes: Sequence[tuple[Any, ...]],
    *,
    pipeline: str = "p",
    tasks: int = 1,
    truncated: Iterable[str] = (),
    on_written: Callable[[str], None] | None = None,
) -> ChangeBatch:
    """Make a micro-batch.

    Args:
        spark: The session.
        number: Its number.
        tables: Its tables.
        changes: A table's id, the rows before and after, as JSON or of what JSON has, and maybe a dictionary with
            partition, offset and timestamp in seconds, and with the operation or the columns that are ``kept``.
        pipeline: The id of the pipeline.
        tasks: The number of tasks; change n is one of task n modulo it.
        truncated: The ids of tables that are emptied first.
        on_written: Is told the tables that a sink notes as written.
    """
    rows: list[list[tuple[Any, ...]]] = [[] for _ in range(tasks)]
    for index, (name, before, after, *more) in enumerate(changes):
        place = {"partition": 0, "offset": index, "timestamp": index, **(more[0] if more else {})}
        operation = place.pop("operation", "c" if before is None else "d" if after is None else "u")
        kept = place.pop("kept", None)
        rows[index % tasks].append((name, operation, _json(before), _json(after), *place.values(), kept))
    parsed = reduce(DataFrame.union, [_as_parsed(spark, each) for each in rows])
    schemas = {each.id: SourceTableSchema(each.columns, each.primary_key) for each in tables}
    planned = {each.id: each.planned() for each in tables}
    counts = {name: sum(change[0] == name for change in changes) for name in schemas}
    routes = {name: (name,) for name in schemas}
    emptied = frozenset(truncated)
    partial = frozenset(name for name, *_, more in changes if isinstance(more, dict) and more.get("kept"))
    return ConvertedChanges(
        pipeline,
        number,
        parsed,
        routes,
        schemas,
        planned,
        counts,
        truncated=emptied,
        partial=partial,
        on_written=on_written,
    )


def _json(row: Mapping[str, Any] | str | None) -> str | None:
    return row if row is None or isinstance(row, str) else json.dumps(row)


def _as_parsed(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    columns = "table STRING, operation STRING, before STRING, after STRING, partition INT, offset BIGINT, time INT"
    columns += ", kept ARRAY<STRING>"
    parsed = (
        spark.createDataFrame(rows, columns)
        .coalesce(1)
        .selectExpr(
            "table",
            "operation",
            "cast(before AS BINARY) AS before",
            "cast(after AS BINARY) AS after",
            "'t' AS topic",
            "partition",
            "offset",
            "timestamp_seconds(time) AS timestamp",
            "kept",
        )
    )
    assert [field.name for field in parsed.schema] == [each.split()[0] for each in CHANGE_BATCH_COLUMNS.split(", ")]
    return parsed
