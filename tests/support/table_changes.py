"""Changes of one table as the sinks of pipelines get them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from millrace_cdc.rows import exact_json
from millrace_cdc.rows.change_records import CHANGE_SCHEMA, PLACE


def changes_at(*rows: tuple[Any, ...], topic: str = "t") -> pa.Table:
    """Make changes.

    Args:
        rows: For each its operation, the rows before and after it, as dictionaries or JSON, and maybe a dictionary with
            partition, offset, timestamp in seconds and kept columns; the offset is the number of the change by default.
        topic: The topic of their messages.
    """
    found = []
    for number, (operation, before, after, *more) in enumerate(rows):
        given: dict[str, Any] = {"partition": 0, "offset": number, "timestamp": 0, **(more[0] if more else {})}
        found.append(
            {
                "operation": operation,
                "before": _json(before),
                "after": _json(after),
                "topic": topic,
                **given,
                "timestamp": given["timestamp"] * 1_000_000,
            }
        )
    names = ("operation", "before", "after", *PLACE, "kept")
    return pa.Table.from_pylist(found, pa.schema([CHANGE_SCHEMA.field(name) for name in names]))


def changes_of_table(table: str, *rows: tuple[Any, ...]) -> pa.RecordBatch:
    """Make changes with the id of their table: see `changes_at`."""
    changes = changes_at(*rows)
    tables = pa.array([table] * changes.num_rows, pa.string())
    return changes.add_column(0, "table", tables).combine_chunks().to_batches()[0]


def _json(row: Mapping[str, Any] | bytes | None) -> bytes | None:
    return row if row is None or isinstance(row, bytes) else exact_json.encode(row)
