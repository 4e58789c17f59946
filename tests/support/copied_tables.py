"""A sink of pipelines that keeps tables in memory, as the changes leave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import CHANGE_BATCH_COLUMNS, PipelineSink, SinkCapabilities
from millrace.pyspark_internals import to_arrow_schema
from millrace_cdc.connectors.table_changes.row_images import read_images
from millrace_cdc.rows.arrow_rows import JsonColumns
from support.origin import Origin, as_origin, plain


class CopiedTables(PipelineSink):
    """Tables by their primary keys; of those without, the rows and how often there are.

    Args:
        failing: The numbers of the micro-batches that fail once, after they were written.
    """

    def __init__(self, failing: tuple[int, ...] = ()) -> None:
        super().__init__(None)
        self.tables: dict[str, dict[Any, tuple[dict[str, Any], int]]] = {}
        self.types: dict[str, dict[str, str]] = {}
        self.truncated: list[str] = []
        self._failing = set(failing)
        self._last = -1

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        return [values for values, count in self.tables.get(table, {}).values() for _ in range(count)]

    @property
    def capabilities(self) -> SinkCapabilities:
        return SinkCapabilities(SinkCapabilities.ALL_CHANGES)

    def apply(self, spark, changes) -> None:
        for change in changes:
            self.types[change.table.id] = {each.name: each.dataType.simpleString() for each in change.table.schema}

    def write(self, batch) -> None:
        if batch.id > self._last:
            # One job for all tables
            changes = batch.map(lambda batches: batches, CHANGE_BATCH_COLUMNS).toArrow()
            changes = changes.sort_by([("partition", "ascending"), ("offset", "ascending")])
            for name, table in batch.tables.items():
                if name in batch.truncated:
                    self.truncated.append(name)
                    self.tables[name] = {}
                self._write(table, changes.filter(pc.equal(changes.column("table"), name)))
            self._last = batch.id
        if batch.id in self._failing:
            self._failing.remove(batch.id)
            raise RuntimeError("the sink fails after it has written")

    def _write(self, table, changes: pa.Table) -> None:
        rows = self.tables.setdefault(table.id, {})
        columns = JsonColumns(to_arrow_schema(table.schema))
        images = [_by_change(*read_images(changes, image, ("c", "u", "d"), columns)) for image in ("before", "after")]
        for change in range(changes.num_rows):
            for image, count in zip(images, (-1, 1), strict=True):
                values = image.get(change)
                if values is None:
                    continue
                place = (
                    tuple(values[each] for each in table.primary_key) if table.primary_key else tuple(values.items())
                )
                left = rows.get(place, ({}, 0))[1] + count
                # Of a table with a key, the row after an update replaces the one before
                if left > 0:
                    rows[place] = (values, left)
                else:
                    del rows[place]


def _by_change(numbers: pa.Array, rows: pa.Table) -> dict[int, dict[str, Any]]:
    return dict(zip(numbers.to_pylist(), rows.to_pylist(), strict=True))


def check_equal(rows: Iterable[Mapping[str, Any]], origin: Origin, name: str, *, has_nan: bool = True) -> None:
    """Check that rows are those of a table of the origin, in the columns that this has.

    Args:
        rows: The rows.
        origin: The origin.
        name: The name of its table.
        has_nan: Whether columns can have NaN; otherwise it is NULL.
    """
    columns, wanted_rows = origin.columns(name), origin.rows(name)
    if not has_nan:
        wanted_rows = [{key: None if value == "NaN" else value for key, value in row.items()} for row in wanted_rows]
    values = {column: [row[column] for row in wanted_rows if row[column] is not None] for column in columns}
    like = {column: list({repr(each): each for each in found}.values()) for column, found in values.items()}
    wanted = Counter(str([plain(row[column]) for column in columns]) for row in wanted_rows)
    found = Counter(str([plain(_shown(row.get(column), like[column])) for column in columns]) for row in rows)
    assert found == wanted, f"{name}: {found - wanted} instead of {wanted - found}"


def _shown(value: Any, like: list[Any]) -> Any:
    if value is None:
        return None
    candidates = [as_origin(value, each) for each in like] or [value]
    return next((each for each in candidates if each in like), candidates[0])
