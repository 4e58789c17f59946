"""Convert columns to the types that arro3 writes as JSON exactly, and find the rows that it does not."""

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
from millrace_formats.shared.column_texts import (
    date_texts,
    scientific_texts,
    time_texts,
    timestamp_texts,
    without_offset,
)

# arro3 has no decimals: they are written as text that begins with this mark, and then lose mark and quotes
_MARK = "\x01"
_MARKED_NUMBER = re.compile(rb'"\\u0001([-+.0-9E]+)"')


class ArrowJsonBatch(NamedTuple):
    """A batch of columns that JSON has types for.

    Attributes:
        rows: The batch.
        exact: A mask of the rows that need the exact writer; None for no row, True for all.
        numbers: The number of values that are marked numbers.
    """

    rows: pa.RecordBatch
    exact: np.ndarray | Literal[True] | None
    numbers: int = 0


class ArrowJsonConverter:
    """Convert batches of one schema for arro3.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._schema = schema
        self._options = options

    def convert(self, rows: pa.RecordBatch) -> ArrowJsonBatch:
        """Convert a batch.

        Raises:
            MessageError: A time is outside the years 0001 to 9999.
        """
        findings = _ExactRows()
        columns = []
        for schema_field, column in zip(self._schema, rows.columns, strict=True):
            converter = _ColumnConverter(schema_field.name, self._options, findings)
            columns.append(converter.convert(column, top=True))
        names = self._schema.names
        return ArrowJsonBatch(pa.RecordBatch.from_arrays(columns, names=names), findings.exact, findings.numbers)


@dataclass
class _ExactRows:
    """The rows that need the exact writer, and the number of marked numbers."""

    exact: np.ndarray | Literal[True] | None = None
    numbers: int = 0

    def add_exact(self, values: pa.BooleanArray, top: bool) -> None:
        """Add values that need the exact writer; inside arrays, maps and structs the whole batch does."""
        if self.exact is True or not pc.any(values).as_py():
            return
        if not top:
            self.exact = True
            return
        mask = values.fill_null(False).to_numpy(zero_copy_only=False)
        self.exact = mask if self.exact is None else self.exact | mask


@dataclass(frozen=True)
class _ColumnConverter:
    name: str
    options: JsonOptions
    findings: _ExactRows

    def convert(self, column: pa.Array, top: bool = False) -> pa.Array:
        """Convert a column; values that JSON has no type for become text."""
        type_ = column.type
        if pt.is_nested(type_):
            return self._nested(without_offset(column))
        if pt.is_floating(type_):
            self.findings.add_exact(pc.invert(pc.is_finite(column)), top)
        elif pt.is_decimal128(type_) and not self.options.decimal_as_plain_number:
            self.findings.numbers += len(column) - column.null_count
            return mark_numbers(scientific_texts(column))
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
            inner = [self.convert(column.field(i)) for i in range(len(names))]
            if not names:
                return column
            return pa.StructArray.from_arrays(inner, names=names, mask=_nulls(column))
        if pt.is_map(column.type):
            return self._map(column)
        values = self.convert(column.values)
        return pa.ListArray.from_arrays(column.offsets, values, mask=_nulls(column))

    def _map(self, column: pa.MapArray) -> pa.Array:
        keys, items = self._keys(column), self.convert(column.items)
        if self.options.ignore_null_fields:
            self.findings.add_exact(items.is_null(), top=False)
        type_ = pa.map_(pa.string(), items.type)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=type_, mask=_nulls(column))

    def _keys(self, column: pa.MapArray) -> pa.Array:
        keys = self._scalar(column.keys)
        return keys if keys.type == pa.string() else keys.cast(pa.string())


def mark_numbers(texts: pa.StringArray) -> pa.StringArray:
    """Mark texts as numbers."""
    return pc.binary_join_element_wise(_MARK, texts, "")


def unmark_number(text: str) -> str:
    """Return the text of a marked number."""
    return text.removeprefix(_MARK)


def unquote_numbers(text: bytes) -> tuple[bytes, int]:
    """Replace marked texts in JSON by numbers; return how many there were, as other texts may look the same."""
    return _MARKED_NUMBER.subn(rb"\1", text)


def _nulls(column: pa.Array) -> pa.BooleanArray | None:
    return column.is_null() if column.null_count else None


def _values(column: pa.Array) -> list[bytes | None]:
    return column.to_numpy(zero_copy_only=False).tolist()
