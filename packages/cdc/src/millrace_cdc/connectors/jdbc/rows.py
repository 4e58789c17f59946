"""Encode the final states of keys for statements, on the executors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding, json_chunks
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.rows.compiled_readers import object_reader

Action = Literal["insert", "upsert", "delete"]
CHUNK_COLUMNS = "table STRING, action STRING, rows STRING, kept ARRAY<STRING>"
"""The columns of chunks: a table's id, the statement that they are for, rows as an array of JSON objects, and the
columns whose values the table keeps."""

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(frozen=True)
class RowSettings:
    """Settings of rows; plain data that travels to executors.

    Attributes:
        recodings: By table's id, values to write otherwise than rows have them.
        keys: By table's id, the columns of its primary key, as of `key_schema`.
        has_nul: Whether a text of the database may have the character U+0000.
        database: The database's name, for errors.
        batch_rows: The largest number of rows of a chunk.
    """

    recodings: Mapping[str, RowRecoding]
    keys: Mapping[str, pa.Schema]
    has_nul: bool
    database: str
    batch_rows: int


class ChunkEncoder:
    """Encode the rows of tables, which stay JSON.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: RowSettings) -> None:
        self._settings = settings

    def __call__(self, table: str, part: int, changes: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the final states of the keys of some changes as chunks, deletions before other rows.

        Raises:
            ChangeError: A change has no key, or the database cannot store a value.
        """
        settings, key = self._settings, self._settings.keys[table]
        recode, key_of = settings.recodings[table].recode, object_reader(key.names)
        final = final_changes(changes, key)
        deleted = map(key_of, final.deletes.column("before").to_pylist())
        for chunk in json_chunks(recode(deleted), settings.batch_rows):
            yield _chunk(table, "delete", chunk)
        for kept_names, upserts in _by_kept_columns(final.upserts):
            for chunk in json_chunks(recode(self._rows(upserts)), settings.batch_rows):
                yield _chunk(table, "upsert" if key.names else "insert", chunk, kept_names)

    def _rows(self, upserts: pa.Table) -> list[bytes]:
        rows: list[bytes] = upserts.column("after").to_pylist()
        if not self._settings.has_nul:
            for index, row in enumerate(rows):
                if b"\\u0000" in row and _NUL.search(row):
                    raise ChangeError.at(upserts, index, _nul_message(row, self._settings.database))
        return rows


def _by_kept_columns(upserts: pa.Table) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the whole rows, which most are, and then the others by the columns that the table keeps."""
    column = upserts.column("kept")
    yield (), upserts if column.null_count == len(column) else upserts.filter(pc.is_null(column))
    partial: dict[tuple[str, ...], list[int]] = {}
    for index in pc.indices_nonzero(pc.is_valid(column)).to_pylist():
        partial.setdefault(tuple(column[index].as_py()), []).append(index)
    for kept_names, indices in partial.items():
        yield kept_names, upserts.take(pa.array(indices))


def _chunk(table: str, action: Action, rows: str, kept_names: Sequence[str] = ()) -> pa.RecordBatch:
    columns = {"table": table, "action": action, "rows": rows}
    arrays = {name: pa.array([text], pa.string()) for name, text in columns.items()}
    return pa.record_batch({**arrays, "kept": pa.array([kept_names], pa.list_(pa.string()))})


def _nul_message(row: bytes, database: str) -> str:
    column = next((name for name, value in _decode(row).items() if _NUL.search(bytes(value))), "")
    return (
        f"column {quote_name(column)} has the character U+0000, which no text of {database} can have: replace it by "
        f"REGEXP_REPLACE in a transform"
    )
