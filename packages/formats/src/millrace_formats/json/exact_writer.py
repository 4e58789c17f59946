"""Write JSON one row at a time: slow and complete. arro3 writes the same for most rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.json.arrow_json import unmark_number
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.java_text import plain_text

Write = Callable[[Any], str]

_quoted = json.JSONEncoder(ensure_ascii=False).encode


class JsonExactWriter:
    """Write batches that `ArrowJsonConverter` has converted, row by row.

    Args:
        schema: The columns before they were converted.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._options = options
        self._write = _struct_writer(list(schema), options)

    def write(self, rows: pa.RecordBatch) -> list[bytes]:
        """Write rows as JSON objects."""
        return [self._write(row).encode() for row in rows.to_pylist()]


def _writer(type_: pa.DataType, options: JsonOptions) -> Write:
    if pt.is_struct(type_):
        return _nullable(_struct_writer([type_.field(i) for i in range(type_.num_fields)], options))
    if pt.is_map(type_):
        return _nullable(_map_writer(_writer(type_.item_type, options)))
    if pt.is_list(type_):
        element = _writer(type_.value_type, options)
        return _nullable(lambda values: "[" + ",".join(map(element, values)) + "]")
    return _nullable(_scalar_writer(type_, options))


def _scalar_writer(type_: pa.DataType, options: JsonOptions) -> Write:
    if pt.is_floating(type_):
        return float_text if type_ == pa.float64() else lambda value: float_text(np.float32(value))
    if pt.is_decimal128(type_):
        return plain_text if options.decimal_as_plain_number else unmark_number
    if pt.is_integer(type_):
        return str
    return _quoted_or_boolean


def _quoted_or_boolean(value: Any) -> str:
    return _quoted(value)


def _nullable(write: Write) -> Write:
    return lambda value: "null" if value is None else write(value)


def _struct_writer(fields: list[pa.Field], options: JsonOptions) -> Write:
    writers = [(field.name, f"{_quoted(field.name)}:", _writer(field.type, options)) for field in fields]
    keep_nulls = not options.ignore_null_fields

    def write(value: dict[str, Any]) -> str:
        parts = [label + field(value[name]) for name, label, field in writers if keep_nulls or value[name] is not None]
        return "{" + ",".join(parts) + "}"

    return write


def _map_writer(item: Write) -> Write:
    def write(pairs: list[tuple[str, Any]]) -> str:
        return "{" + ",".join(f"{_quoted(key)}:{item(value)}" for key, value in pairs) + "}"

    return write


def float_text(value: float | np.float32) -> str:
    """Return the shortest text that reads as the same float; NaN and the infinities are quoted, as in Java."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    number = Decimal(repr(value) if isinstance(value, float) else str(value))
    if -5 <= number.adjusted() <= 9 or not number:
        text = format(number, "f")
        return text if "." in text else f"{text}.0"
    sign, digits, _ = number.as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}e{number.adjusted()}"
