"""The types that a metadata column may be declared with, and safe casts to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import HEADERS, is_headers

_MILLISECONDS = pa.timestamp("ms", "UTC")


def can_hold(declared: pa.DataType, metadata_type: pa.DataType) -> bool:
    """Return whether a column may be declared with a type: that of the metadata, or one with a safe cast."""
    if declared == metadata_type or (metadata_type == HEADERS and is_headers(declared)):
        return True
    if pa.types.is_integer(metadata_type):
        return pa.types.is_integer(declared)
    if pa.types.is_timestamp(metadata_type) and metadata_type.tz is not None:
        return pa.types.is_int64(declared)
    if pa.types.is_map(metadata_type):
        has_same_keys = pa.types.is_map(declared) and declared.key_type == metadata_type.key_type
        return has_same_keys and can_hold(declared.item_type, metadata_type.item_type)
    if metadata_type == HEADERS:
        return _are_text_headers(declared)
    return pa.types.is_binary(metadata_type) and pa.types.is_string(declared)


def describe_types(metadata_type: pa.DataType, sql_type: str) -> str:
    """Name the types that `can_hold` permits, as Spark SQL writes them."""
    if pa.types.is_integer(metadata_type):
        return f"{sql_type} or another integer type"
    if pa.types.is_timestamp(metadata_type) and metadata_type.tz is not None:
        return f"{sql_type} or BIGINT (ms since 1970)"
    return f"{sql_type} or {sql_type.replace('BINARY', 'STRING')}" if "BINARY" in sql_type else sql_type


def _are_text_headers(declared: pa.DataType) -> bool:
    """Return whether a type is `HEADERS` with values that are text."""
    if not (pa.types.is_list(declared) and pa.types.is_struct(declared.value_type)):
        return False
    return [(field.name, field.type) for field in declared.value_type] == [("key", pa.string()), ("value", pa.string())]


class CastColumn(NamedTuple):
    """Metadata in the type of its column.

    Attributes:
        column: The values; NULL where one does not fit.
        misfits: The rows whose value does not fit, in order.
    """

    column: pa.Array
    misfits: tuple[int, ...] = ()


def cast_safely(column: pa.Array, declared: pa.DataType) -> CastColumn:
    """Cast metadata to a type that `can_hold` permits, and single out the values that it cannot hold."""
    if column.type == declared:
        return CastColumn(column)
    try:
        return CastColumn(_cast(column, declared))
    except pa.ArrowInvalid:
        # Not by slices: of a nested column, values outside of a slice are cast, too
        fits = np.array([_fits(column.take([row]), declared) for row in range(len(column))])
    fitting = column.filter(pa.array(fits))
    places = pa.array(np.cumsum(fits) - 1, mask=~fits)
    return CastColumn(_cast(fitting, declared).take(places), tuple(np.flatnonzero(~fits).tolist()))


def _fits(value: pa.Array, declared: pa.DataType) -> bool:
    try:
        _cast(value, declared)
    except pa.ArrowInvalid:
        return False
    return True


def _cast(column: pa.Array, declared: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(column.type) and pa.types.is_integer(declared):
        column = column.cast(_MILLISECONDS)
    return column.cast(declared)
