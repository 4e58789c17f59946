"""Metrics of a data or delete file, by which readers skip it, and its entry in JSON."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_MAX_COLUMNS = 100
_MAX_TEXT = 16
"""As Iceberg's own writers: bounds of the first 100 columns, and of 16 characters."""

_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def metrics(rows: pa.Table) -> dict[str, Any]:
    """Return metrics of rows whose columns have ids of fields, as ``ContentFileParser`` of Iceberg reads them."""
    counts: dict[int, int] = {}
    nulls: dict[int, int] = {}
    lower: dict[int, str] = {}
    upper: dict[int, str] = {}
    for field, column in list(zip(rows.schema, rows.columns, strict=True))[:_MAX_COLUMNS]:
        if pa.types.is_nested(field.type):
            continue
        id_ = field_id(field)
        counts[id_] = len(column)
        nulls[id_] = column.null_count
        to_bytes = _to_bytes(field.type)
        if to_bytes is not None and column.null_count < len(column):
            ends = pc.min_max(column)
            low, high = to_bytes(ends["min"], False), to_bytes(ends["max"], True)
            if low is not None:
                lower[id_] = low.hex().upper()
            if high is not None:
                upper[id_] = high.hex().upper()
    by_metric: dict[str, dict[int, Any]] = {
        "value-counts": counts,
        "null-value-counts": nulls,
        "lower-bounds": lower,
        "upper-bounds": upper,
    }
    return {name: {"keys": list(by_field), "values": list(by_field.values())} for name, by_field in by_metric.items()}


def field_id(field: pa.Field) -> int:
    """Return the id of a column."""
    return int(field.metadata[b"PARQUET:field_id"])


def _to_bytes(type_: pa.DataType) -> Callable[[pa.Scalar, bool], bytes | None] | None:
    """Return a function that makes a bound of a value: "Single-value serialization" of the specification."""
    if pa.types.is_boolean(type_):
        return lambda value, _: b"\x01" if value.as_py() else b"\x00"
    if pa.types.is_int32(type_) or pa.types.is_date32(type_):
        return lambda value, _: struct.pack("<i", value.cast(pa.int32()).as_py())
    if pa.types.is_int64(type_) or pa.types.is_timestamp(type_) or pa.types.is_time64(type_):
        return lambda value, _: struct.pack("<q", value.cast(pa.int64()).as_py())
    if pa.types.is_float32(type_):
        return lambda value, _: _pack_float("<f", value)
    if pa.types.is_float64(type_):
        return lambda value, _: _pack_float("<d", value)
    if pa.types.is_decimal(type_):
        return lambda value, _: _decimal_bytes(value.as_py(), type_.scale)
    return _text_bound if pa.types.is_string(type_) else None


def _pack_float(format_: str, value: pa.Scalar) -> bytes | None:
    number = value.as_py()
    return None if number != number else struct.pack(format_, number)


def _decimal_bytes(value: Decimal, scale: int) -> bytes:
    # scaleb rounds to the digits of the context
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits))) * 10 ** (int(exponent) + scale)
    number = -number if sign else number
    bits = (number if number >= 0 else ~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def _text_bound(value: pa.Scalar, is_upper: bool) -> bytes | None:
    text: str = value.as_py()
    if len(text) <= _MAX_TEXT:
        return text.encode()
    if not is_upper:
        return text[:_MAX_TEXT].encode()
    for end in range(_MAX_TEXT, 0, -1):
        following = ord(text[end - 1]) + 1
        if following in _SURROGATES:
            following = _SURROGATES.stop
        if following <= _LAST_CHARACTER:
            return (text[: end - 1] + chr(following)).encode()
    return None


def content_file(
    path: str,
    size: int,
    rows: pa.Table,
    *,
    spec_id: int,
    partition: Sequence[Any] = (),
    equality_ids: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return the entry of a file, as ``ContentFileParser`` of Iceberg reads it.

    Args:
        path: URL of the file.
        size: Its bytes.
        rows: Its rows.
        spec_id: The id of the partition spec that it is in.
        partition: Its values of the spec's fields.
        equality_ids: The ids of the columns by which it deletes rows; None for a file of data.
    """
    entry: dict[str, Any] = {
        "spec-id": spec_id,
        "content": "DATA" if equality_ids is None else "EQUALITY_DELETES",
        "file-path": path,
        "file-format": "PARQUET",
        "partition": list(partition),
        "file-size-in-bytes": size,
        "record-count": rows.num_rows,
        **metrics(rows),
    }
    if equality_ids is not None:
        entry["equality-ids"] = list(equality_ids)
    return entry
