"""Read rows of JSON into columns of Arrow.

Arrow's own reader takes whole batches; what it cannot read, and messages that it refuses, take the exact path, a row
at a time. Rows are as `ChangeBatch.map` has them: times are texts, bytes are in base64, a DECIMAL is a number.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from millrace_cdc.rows import exact_json

_MIN_BLOCK = 1 << 16
_AN_EPOCH_DAY = "1970-01-01 "


class RowError(Exception):
    """A row that does not fit its columns.

    Attributes:
        index: Its index.
        reason: The reason.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class JsonColumns:
    """Columns of rows in JSON.

    Args:
        schema: The columns: rows may lack some, and have others.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._is_fast = all(_is_fast(field.type, nested=False) for field in schema)
        read = pa.schema([pa.field(field.name, _read_type(field.type)) for field in schema])
        self._options = pj.ParseOptions(explicit_schema=read, unexpected_field_behavior="ignore")
        self._columns = [(field.name, field.type, _converter(field.type)) for field in schema]

    def read(self, rows: Sequence[bytes]) -> pa.Table:
        """Read rows.

        Raises:
            RowError: One does not fit.
        """
        if self._is_fast and rows:
            try:
                return self._read_fast(rows)
            except pa.ArrowInvalid:
                # The exact path finds the row, and reads what Arrow does not
                pass
        return self._read_exact(rows)

    def _read_fast(self, rows: Sequence[bytes]) -> pa.Table:
        lines = b"\n".join(rows)
        options = pj.ReadOptions(use_threads=False, block_size=max(len(lines) + 1, _MIN_BLOCK))
        parsed = pj.read_json(io.BytesIO(lines), read_options=options, parse_options=self._options)
        columns = [_cast(parsed.column(field.name), field.type) for field in self.schema]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _read_exact(self, rows: Sequence[bytes]) -> pa.Table:
        columns: list[list[Any]] = [[] for _ in self._columns]
        for index, row in enumerate(rows):
            value = exact_json.decode(row)
            for (name, type_, convert), values in zip(self._columns, columns, strict=True):
                raw = value.get(name)
                try:
                    converted = None if raw is None else convert(raw)
                    # One value at a time, so that the error can name the row
                    pa.scalar(converted, type_)
                except (ValueError, TypeError, ArithmeticError, AttributeError, pa.ArrowException) as error:
                    raise RowError(index, f"column {name!r}: {str(raw)!r} is no {type_}: {error}") from error
                values.append(converted)
        arrays = [pa.array(values, type_) for (_, type_, _), values in zip(self._columns, columns, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _is_fast(type_: pa.DataType, *, nested: bool) -> bool:
    if pa.types.is_list(type_):
        return _is_fast(type_.value_type, nested=True)
    if pa.types.is_struct(type_):
        return all(_is_fast(field.type, nested=True) for field in type_)
    return not (pa.types.is_map(type_) or (nested and (pa.types.is_time64(type_) or pa.types.is_binary(type_))))


def _read_type(type_: pa.DataType) -> pa.DataType:
    """Return the type as which Arrow reads a value, for `_cast`."""
    if pa.types.is_list(type_):
        return pa.list_(pa.field(type_.value_field.name, _read_type(type_.value_type)))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(field.name, _read_type(field.type)) for field in type_])
    is_text = pa.types.is_date(type_) or pa.types.is_time64(type_) or pa.types.is_binary(type_)
    return pa.string() if is_text else type_


def _cast(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_time64(type_):
        return pc.binary_join_element_wise(_AN_EPOCH_DAY, column, "").cast(pa.timestamp("us")).cast(type_)
    if pa.types.is_binary(type_):
        texts = column.to_pylist()
        return pa.chunked_array([pa.array([None if text is None else base64.b64decode(text) for text in texts], type_)])
    return column if column.type == type_ else column.cast(type_)


def _converter(type_: pa.DataType) -> Callable[[Any], Any]:
    """Return a function that makes a value of JSON one that Arrow takes for a type."""
    if pa.types.is_list(type_):
        element = _or_null(_converter(type_.value_type))
        return lambda values: [element(value) for value in values]
    if pa.types.is_struct(type_):
        fields = [(field.name, _or_null(_converter(field.type))) for field in type_]
        return lambda value: {name: convert(value.get(name)) for name, convert in fields}
    if pa.types.is_map(type_):
        key, item = _converter(type_.key_type), _or_null(_converter(type_.item_type))
        return lambda value: [(key(name), item(map_value)) for name, map_value in value.items()]
    for is_type, convert in _CONVERTERS:
        if is_type(type_):
            return convert
    return lambda value: value


def _or_null(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


def _to_text(value: Any) -> str:
    # A VARIANT is any value
    return value if isinstance(value, str) else exact_json.encode(value).decode()


def _to_boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else {"true": True, "false": False}[str(value)]


_CONVERTERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_boolean, _to_boolean),
    (pa.types.is_string, _to_text),
    # Keys of maps are texts
    (pa.types.is_integer, int),
    (pa.types.is_floating, float),
    (pa.types.is_decimal, Decimal),
    (pa.types.is_date, date.fromisoformat),
    (pa.types.is_time, time.fromisoformat),
    (pa.types.is_timestamp, datetime.fromisoformat),
    (pa.types.is_binary, lambda value: base64.b64decode(value, validate=True)),
)
