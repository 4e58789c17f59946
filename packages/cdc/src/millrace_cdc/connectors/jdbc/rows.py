"""Encode the last states of keys for statements, on the executors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import pyarrow as pa

from millrace.errors import TableFailedError
from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding, json_chunks
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.connectors.final_states import FinalStates, State

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
        keyed: The ids of the tables that have a primary key.
        has_nul: Whether a text of the database may have the character U+0000.
        database: The database's name, for errors.
        batch_rows: The largest number of rows of a chunk.
    """

    recodings: Mapping[str, RowRecoding]
    keyed: frozenset[str]
    has_nul: bool
    database: str
    batch_rows: int


def write_chunks(states: FinalStates, settings: RowSettings) -> Iterator[pa.RecordBatch]:
    """Yield the chunks of some keys, deletions before other rows of a table.

    Raises:
        TableFailedError: The database cannot store a value.
    """
    for table in states.tables():
        recode = settings.recodings[table].recode
        for chunk in json_chunks(recode(states.deleted(table)), settings.batch_rows):
            yield _chunk(table, "delete", chunk)
        action: Action = "upsert" if table in settings.keyed else "insert"
        for kept, found in _by_kept_columns(states.rows(table)):
            for chunk in json_chunks(recode(_rows(found, table, settings)), settings.batch_rows):
                yield _chunk(table, action, chunk, kept)


def _by_kept_columns(states: Iterable[State]) -> Iterator[tuple[tuple[str, ...], Iterable[State]]]:
    """Yield the states of whole rows, which most are, and then the others by the columns that the table keeps."""
    partial: dict[tuple[str, ...], list[State]] = {}

    def whole() -> Iterator[State]:
        for state in states:
            if state.kept:
                partial.setdefault(state.kept, []).append(state)
            else:
                yield state

    yield (), whole()
    yield from partial.items()


def _rows(states: Iterable[State], table: str, settings: RowSettings) -> Iterator[bytes]:
    for state in states:
        row = state.row
        assert row is not None  # noqa: S101
        if not settings.has_nul and b"\\u0000" in row and _NUL.search(row):
            raise TableFailedError(table, _nul_message(state, row, settings.database))
        yield row


def _chunk(table: str, action: Action, rows: str, kept: Sequence[str] = ()) -> pa.RecordBatch:
    columns = {"table": table, "action": action, "rows": rows}
    arrays = {name: pa.array([text], pa.string()) for name, text in columns.items()}
    return pa.record_batch({**arrays, "kept": pa.array([kept], pa.list_(pa.string()))})


def _nul_message(state: State, row: bytes, database: str) -> str:
    column = next((name for name, value in _decode(row).items() if _NUL.search(bytes(value))), "")
    return (
        f"message in topic {state.topic!r}, partition {state.partition}, offset {state.offset}: column "
        f"{quote_name(column)} has the character U+0000, which no text of {database} can have: "
        f"replace it by REGEXP_REPLACE in a transform"
    )
