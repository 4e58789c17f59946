"""Convert the rows of changes to the columns of the sink's tables, on the executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from millrace.errors import MalformedMessageError, MessageError
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.change_records import RECORD_COLUMNS, changes_of, kept_columns, row_images
from millrace_cdc.rows.compiled_readers import value_reader
from millrace_cdc.rows.row_conversion import values_converter
from millrace_cdc.runtime.table_schema import SourceTableSchema, columns_of


class _TargetTable(NamedTuple):
    table: str
    convert: Callable[[bytes], bytes]


class ChangeConverter:
    """Convert the changes of one task, and hand each to all tables that it is routed to.

    Args:
        routes: By id of a source's table, those of the sink's tables that its rows go to.
        tables: The sink's tables.
        fitting: The ids of those of the source's tables whose rows have the columns of all of their targets already.
    """

    def __init__(
        self,
        routes: Mapping[str, tuple[str, ...]],
        tables: Mapping[str, SourceTableSchema],
        fitting: frozenset[str] = frozenset(),
    ) -> None:
        self._routes = routes
        self._tables = tables
        self._fitting = fitting
        self._targets: dict[str, tuple[_TargetTable, ...]] = {}

    def convert(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield converted changes, in the changes' order."""
        return map(self._convert_batch, batches)

    def _convert_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if all(self._stays(table) for table in batch.column("table").unique().to_pylist()):
            return batch.select(list(RECORD_COLUMNS))
        rows: list[int] = []
        targets: list[str] = []
        old_rows: list[bytes | None] = []
        new_rows: list[bytes | None] = []
        operations: list[str] = []
        kept_before, kept_after = kept_columns(batch), dict[int, list[str]]()
        names = (batch.column(name).to_pylist() for name in ("table", "operation"))
        for index, (table, operation, before, after) in enumerate(zip(*names, *row_images(batch), strict=True)):
            for target, convert in self._targets.get(table) or self._open(table):
                try:
                    old = None if before is None else convert(before)
                    new = None if after is None else convert(after)
                except MalformedMessageError as error:
                    raise MessageError(_misfit(batch, index, table, target, error)) from error
                if index in kept_before:
                    kept_after[len(rows)] = kept_before[index]
                rows.append(index)
                targets.append(target)
                operations.append(operation)
                old_rows.append(old)
                new_rows.append(new)
        return changes_of(batch.take(pa.array(rows, pa.int64())), targets, operations, old_rows, new_rows, kept_after)

    def _stays(self, table: str) -> bool:
        return table in self._fitting and self._routes.get(table) == (table,)

    def _open(self, table: str) -> tuple[_TargetTable, ...]:
        targets = tuple(_TargetTable(target, self._converter(table, target)) for target in self._routes.get(table, ()))
        self._targets[table] = targets
        return targets

    def _converter(self, table: str, target: str) -> Callable[[bytes], bytes]:
        if table in self._fitting:
            return lambda row: row
        columns = columns_of(self._tables[target])
        read, convert = value_reader(columns), values_converter(columns)
        return lambda row: exact_json.encode(convert(read(row)))


def _misfit(batch: pa.RecordBatch, index: int, table: str, target: str, error: MalformedMessageError) -> str:
    topic, partition, offset = (batch.column(name)[index].as_py() for name in ("topic", "partition", "offset"))
    return (
        f"message in topic {topic!r}, partition {partition}, offset {offset}: a row of table {table!r} does not fit "
        f"table {target!r} of the sink: {error}. Let the sink's table follow ('schema.change.behavior' = evolve), or "
        f"leave the column out"
    )
