"""The rows of tables that a pipeline has copied, as each sink has them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

NEW_KINDS = ("+I", "+U")


def sqlite_rows(file: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table of SQLite."""
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')]


def parquet_rows(folder: Path, key: tuple[str, ...], start: int = 0) -> list[dict[str, Any]]:
    """Return the rows that the changes in a folder of the sink ``parquet`` leave.

    Args:
        folder: The folder.
        key: The columns of the table's primary key; without one, it only has insertions.
        start: The offset of the first change that counts.
    """
    changes = [row for file in folder.glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    changes = [change for change in changes if change["__offset"] >= start]
    # The old row of a change stands before its new one
    changes.sort(key=lambda change: (change["__offset"], change["row_kind"] in NEW_KINDS))
    if not key:
        return changes
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for change in changes:
        values = tuple(repr(change[name]) for name in key)
        if change["row_kind"] in NEW_KINDS:
            rows[values] = change
        else:
            rows.pop(values, None)
    return list(rows.values())
