"""Encode the last states of keys as Arrow, on the executors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import types as kinds

from millrace.errors import TableFailedError
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.connectors.final_states import FinalStates

DELETED = "__millrace_deleted"
"""The column that says whether a row is gone; then it has its key only."""

CHUNK_COLUMNS = "table STRING, rows BINARY"
"""The columns of chunks: a table's id, and rows as a stream of Arrow's IPC format."""

_CHUNK_ROWS = 20_000
Convert = Callable[[Any], Any]


def write_rows(states: FinalStates, schemas: Mapping[str, pa.Schema]) -> Iterator[pa.RecordBatch]:
    """Yield the chunks of some keys.

    Args:
        states: The states.
        schemas: The columns of tables, by id.

    Raises:
        TableFailedError: A value is none of its column's type.
    """
    for table in states.tables():
        encoder = _Encoder(table, schemas[table])
        rows: Iterator[tuple[bytes, bool]] = chain(
            ((key, True) for key in states.deleted(table)),
            ((state.row, False) for state in states.rows(table) if state.row is not None),
        )
        while chunk := _take(rows):
            yield pa.record_batch(
                {"table": pa.array([table], pa.string()), "rows": pa.array([encoder.encode(chunk)], pa.binary())}
            )


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows, of a table's columns and `DELETED`."""
    return schema.append(pa.field(DELETED, pa.bool_())).empty_table()


def read_rows(rows: bytes) -> pa.Table:
    """Read a chunk of `write_rows`: the table's columns, and `DELETED`."""
    return pa.ipc.open_stream(rows).read_all()


class _Encoder:
    def __init__(self, table: str, schema: pa.Schema) -> None:
        self._table = table
        self._schema = schema.append(pa.field(DELETED, pa.bool_()))
        self._columns = [(field.name, field.type, _converter(field.type)) for field in schema]

    def encode(self, rows: list[tuple[bytes, bool]]) -> bytes:
        parsed = [json.loads(row, parse_float=Decimal) for row, _ in rows]
        columns = [self._column(parsed, *column) for column in self._columns]
        columns.append(pa.array([is_deleted for _, is_deleted in rows], pa.bool_()))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._schema) as stream:
            stream.write_batch(pa.record_batch(columns, self._schema))
        return sink.getvalue().to_pybytes()

    def _column(self, rows: list[dict[str, Any]], name: str, type_: pa.DataType, convert: Convert) -> pa.Array:
        try:
            return pa.array([convert(row.get(name)) for row in rows], type_)
        except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as error:
            raise TableFailedError(
                self._table, f"a value of column {quote_name(name)} is no {type_} of Delta Lake: {error}"
            ) from None


def _take(rows: Iterator[tuple[bytes, bool]]) -> list[tuple[bytes, bool]]:
    return [row for row, _ in zip(rows, range(_CHUNK_ROWS), strict=False)]


def _converter(type_: pa.DataType) -> Convert:
    """Return a function from a value of JSON to one that Arrow takes for a type; null stays."""
    if kinds.is_list(type_):
        element = _converter(type_.value_type)
        return _unless_null(lambda values: [element(value) for value in values])
    if kinds.is_map(type_):
        key, item = _converter(type_.key_type), _converter(type_.item_type)
        return _unless_null(lambda values: [(key(name), item(value)) for name, value in values.items()])
    if kinds.is_struct(type_):
        fields = [(field.name, _converter(field.type)) for field in type_]
        return _unless_null(lambda value: {name: convert(value.get(name)) for name, convert in fields})
    for is_kind, convert in _CONVERTERS.items():
        if is_kind(type_):
            return _unless_null(convert(type_))
    return lambda value: value


def _unless_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _timestamp(type_: pa.DataType) -> Convert:
    if type_.tz is None:
        return datetime.fromisoformat

    def convert(text: str) -> datetime:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    return convert


_CONVERTERS: dict[Callable[[pa.DataType], bool], Callable[[pa.DataType], Convert]] = {
    kinds.is_floating: lambda _: float,
    kinds.is_integer: lambda _: int,
    kinds.is_decimal: lambda _: Decimal,
    kinds.is_binary: lambda _: base64.b64decode,
    kinds.is_date: lambda _: date.fromisoformat,
    kinds.is_timestamp: _timestamp,
}
