"""Columns made ready to be written: what JSON has no type for as text, and which rows need care."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.errors import MessageError
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.column_texts import date_texts, scientific_texts, time_texts, timestamp_texts

# As a writer of JSON escapes it
_MARK = "\x01"
_MARKED = re.compile(rb'"\\u0001([-+.0-9E]+)"')


class Printable(NamedTuple):
    """A batch whose columns hold only what JSON has, and which of its rows must be written one by one.

    Attributes:
        rows: The batch.
        exact: For each row whether it needs the exact writer; None for no row, True for all.
        numbers: How many values are numbers marked as such in text.
    """

    rows: pa.RecordBatch
    exact: np.ndarray | Literal[True] | None
    numbers: int = 0


class Printer:
    """Makes batches of one schema ready to be written.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._schema = schema
        self._options = options

    def printable(self, rows: pa.RecordBatch) -> Printable:
        """The batch made ready.

        Raises:
            MessageError: A time is outside the years 0001 to 9999.
        """
        care = _Care(rows.num_rows)
        columns = []
        for schema_field, column in zip(self._schema, rows.columns, strict=True):
            columns.append(_Column(schema_field.name, self._options, care).text(column, top=True))
        names = self._schema.names
        return Printable(pa.RecordBatch.from_arrays(columns, names=names), care.exact, care.numbers)


@dataclass
class _Care:
    rows: int
    exact: np.ndarray | Literal[True] | None = None
    numbers: int = 0

    def add(self, values: pa.BooleanArray, top: bool) -> None:
        """Note values that need the exact writer; inside arrays, maps and structs they make it the whole batch."""
        if self.exact is True or not pc.any(values).as_py():
            return
        if not top:
            self.exact = True
            return
        marked = values.fill_null(False).to_numpy(zero_copy_only=False)
        self.exact = marked if self.exact is None else self.exact | marked


@dataclass(frozen=True)
class _Column:
    name: str
    options: JsonOptions
    care: _Care

    def text(self, column: pa.Array, top: bool = False) -> pa.Array:
        """The column with all that JSON does not have made text."""
        type_ = column.type
        if pt.is_nested(type_):
            return self._nested(_unsliced(column))
        if pt.is_floating(type_):
            self.care.add(pc.invert(pc.is_finite(column)), top)
        elif pt.is_decimal128(type_) and not self.options.decimal_as_plain_number:
            self.care.numbers += len(column) - column.null_count
            return marked(scientific_texts(column))
        return self._scalar(column)

    def _scalar(self, column: pa.Array) -> pa.Array:
        type_ = column.type
        try:
            if pt.is_timestamp(type_):
                return timestamp_texts(column, self.options.iso)
            if pt.is_time64(type_):
                return time_texts(column)
            if pt.is_date32(type_):
                return date_texts(column)
        except ValueError as error:
            raise MessageError(f"column {self.name}, {error}") from None
        if pt.is_binary(type_):
            return pa.array([None if v is None else base64.b64encode(v).decode() for v in _values(column)], pa.string())
        return column

    def _nested(self, column: pa.Array) -> pa.Array:
        if pt.is_struct(column.type):
            names = [column.type.field(i).name for i in range(column.type.num_fields)]
            inner = [self.text(column.field(i)) for i in range(len(names))]
            if not names:
                return column
            return pa.StructArray.from_arrays(inner, names=names, mask=_nulls(column))
        if pt.is_map(column.type):
            return self._map(column)
        values = self.text(column.values)
        return pa.ListArray.from_arrays(column.offsets, values, mask=_nulls(column))

    def _map(self, column: pa.MapArray) -> pa.Array:
        keys, items = self._keys(column), self.text(column.items)
        if self.options.ignore_null_fields:
            self.care.add(items.is_null(), top=False)
        type_ = pa.map_(pa.string(), items.type)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=type_, mask=_nulls(column))

    def _keys(self, column: pa.MapArray) -> pa.Array:
        keys = self._scalar(column.keys)
        return keys if keys.type == pa.string() else keys.cast(pa.string())


def marked(texts: pa.StringArray) -> pa.StringArray:
    """Texts of numbers, marked as such."""
    return pc.binary_join_element_wise(_MARK, texts, "")


def unmarked(text: str) -> str:
    """The number's text."""
    return text.removeprefix(_MARK)


def without_quotes(text: bytes) -> tuple[bytes, int]:
    """JSON in which marked texts are numbers, and how many those are: other texts may look the same."""
    return _MARKED.subn(rb"\1", text)


def _nulls(column: pa.Array) -> pa.BooleanArray | None:
    return column.is_null() if column.null_count else None


def _unsliced(column: pa.Array) -> pa.Array:
    """The same values from offset 0 on, so that its parts can be used as they are."""
    return column if column.offset == 0 else pa.concat_arrays([column.slice(0, 0), column])


def _values(column: pa.Array) -> list[bytes | None]:
    return column.to_numpy(zero_copy_only=False).tolist()
