"""A sink that prints changes, or keeps their tables in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from millrace.contracts import (
    CHANGE_BATCH_COLUMNS,
    ChangeBatch,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SinkCapabilities,
)
from millrace.options import option
from millrace_cdc.connectors.values.lines import change_lines, schema_change_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self._rows: dict[str, dict[Any, dict[str, Any]]] = {}

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each table; they are kept as JSON has them."""
        return {table: list(rows.values()) for table, rows in self._rows.items()}

    @property
    def capabilities(self) -> SinkCapabilities:
        """All schema changes, unless the options refuse them."""
        if self.options.refuses_schema_changes:
            return SinkCapabilities(frozenset({"create.table"}))
        return SinkCapabilities(SinkCapabilities.ALL_CHANGES)

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
        for row in batch.map(lambda changes: changes, CHANGE_BATCH_COLUMNS).toLocalIterator():
            before, after = (None if each is None else bytes(each) for each in (row.before, row.after))
            self._print(change_lines(row.table, row.operation, before, after))
            if self.options.keeps:
                self._keep(batch.tables[row.table], before, after)

    def _print(self, lines: Iterable[str]) -> None:
        if self.options.prints:
            for line in lines:
                sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def _keep(self, table: PipelineTable, before: bytes | None, after: bytes | None) -> None:
        rows = self._rows.setdefault(table.id, {})
        if before is not None:
            old = msgspec.json.decode(before)
            key = (
                _key(table, old) if table.primary_key else next((key for key, row in rows.items() if row == old), None)
            )
            rows.pop(key, None)
        if after is not None:
            new = msgspec.json.decode(after)
            rows[_key(table, new) if table.primary_key else object()] = new


def _key(table: PipelineTable, row: dict[str, Any]) -> bytes:
    return msgspec.json.encode([row[name] for name in table.primary_key])
