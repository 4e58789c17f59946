"""A sink that prints changes, or keeps their tables in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millrace.contracts import (
    CHANGE_BATCH_COLUMNS,
    ChangeBatch,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SinkCapabilities,
)
from millrace.errors import TableFailedError
from millrace.options import option
from millrace_catalog.types.spark import from_spark_schema
from millrace_cdc.connectors.values.lines import change_lines, schema_change_line
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.compiled_readers import value_reader
from millrace_cdc.rows.kept_values import with_kept_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ValuesSinkOptions:
    """The options of such a sink."""

    prints: bool = option(
        "print.enabled",
        default=True,
        doc="Whether schema changes and changes are printed, each as a line, where the pipeline was started.",
    )
    keeps: bool = option(
        "materialized.in.memory",
        default=False,
        doc="Whether the tables are kept in memory, for tables of RunningPipeline.sink in Python.",
    )
    refuses_schema_changes: bool = option(
        "error.on.schema.change",
        default=False,
        doc="Whether the sink can apply no schema change but the creation of tables, to try what a pipeline does then.",
    )


class ValuesPipelineSink(PipelineSink):
    """Changes as lines, and tables in memory, of this Python process: each change passes through it.

    Attributes:
        tables: With ``materialized.in.memory``, the rows of each table by its id, oldest first.
    """

    Options = ValuesSinkOptions
    options: ValuesSinkOptions

    distinguishes_case = True

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self._rows: dict[str, dict[Any, Row]] = {}

    @property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table, as JSON has them; numbers of DECIMAL are Decimals, unless they are whole."""
        return {table: list(rows.values()) for table, rows in self._rows.items()}

    @property
    def capabilities(self) -> SinkCapabilities:
        """All schema changes, unless the options refuse them."""
        if self.options.refuses_schema_changes:
            return SinkCapabilities(frozenset({"create.table"}), upserts=True, keeps_values=self.options.keeps)
        return SinkCapabilities(SinkCapabilities.ALL_CHANGES, upserts=True, keeps_values=self.options.keeps)

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> Iterator[PipelineDestination]:
        """Yield lines of text: see `PipelineSink.destinations`."""
        return (PipelineDestination(table.id, "lines", table.id, exists=False) for table in tables)

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Print schema changes: see `PipelineSink.apply`."""
        self._print(map(schema_change_line, changes))
        for change in changes:
            self._rows.setdefault(change.table.id, {})

    def write(self, batch: ChangeBatch) -> None:
        """Print changes and keep tables, in one job: see `PipelineSink.write`."""
        for name in sorted(batch.truncated):
            self._print([f"TRUNCATE TABLE {name};"])
            self._rows[name] = {}
        readers = {name: _row_reader(table) for name, table in batch.tables.items()} if self.options.keeps else {}
        for row in batch.map(lambda changes: changes, CHANGE_BATCH_COLUMNS).toLocalIterator():
            before, after = (None if image is None else bytes(image) for image in (row.before, row.after))
            if self.options.keeps and row.operation == "u":
                after = self._completed(batch.tables[row.table], before, after, row.kept or ())
            self._print(change_lines(row.table, row.operation, before, after))
            if self.options.keeps:
                read = readers[row.table]
                old, new = (None if image is None else read(image) for image in (before, after))
                self._keep(batch.tables[row.table], old, new)

    def _completed(
        self, table: PipelineTable, before: bytes | None, after: bytes | None, kept_names: Sequence[str]
    ) -> bytes | None:
        """Return the new row of an update, with the values that it keeps."""
        if before is None and not table.primary_key:
            raise TableFailedError(
                table.id,
                "an update has no old row, and the table no primary key to find it by: name one by 'primary-keys' of a "
                "transform",
            )
        if after is None or not kept_names:
            return after
        read = _row_reader(table)
        earlier = self._rows.get(table.id, {}).get(_key(table, read(after)))
        return after if earlier is None else with_kept_values(after, exact_json.encode(earlier), kept_names)

    def _print(self, lines: Iterable[str]) -> None:
        if self.options.prints:
            for line in lines:
                sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def _keep(self, table: PipelineTable, old: Row | None, new: Row | None) -> None:
        rows = self._rows.setdefault(table.id, {})
        if old is not None:
            key = (
                _key(table, old) if table.primary_key else next((key for key, row in rows.items() if row == old), None)
            )
            rows.pop(key, None)
        if new is not None:
            rows[_key(table, new) if table.primary_key else object()] = new


def _row_reader(table: PipelineTable) -> Callable[[bytes], Row]:
    columns = from_spark_schema(table.schema)
    read, names = value_reader(columns), columns.names
    return lambda text: dict(zip(names, read(text), strict=True))


def _key(table: PipelineTable, row: Row) -> bytes:
    return exact_json.encode([row[name] for name in table.primary_key])
