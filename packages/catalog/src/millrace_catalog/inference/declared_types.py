"""Types that users declare for columns, and the values that these hold: such a value does not change its column.

JSON has fewer types than columns: texts may be times, bytes in base64 or decimals, and objects may be maps.
"""

from __future__ import annotations

import base64
import binascii
import functools
import struct
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any

from millrace_catalog.inference.canal_values import fitting_type_reader
from millrace_catalog.inference.observation import RowImage
from millrace_catalog.inference.time_texts import time_text_reader
from millrace_catalog.types import (
    NULL,
    ArrayType,
    DataType,
    MapType,
    RowType,
    ScalarType,
    least_common_type,
    with_nullability,
)
from millrace_catalog.types.model import MAX_DIGITS, MAX_PRECISION

_fitting_type = fitting_type_reader(iso=False, integers_are_booleans=False)
_time_types = [time_text_reader(iso) for iso in (False, True)]
_exact = Context(prec=1_000)
_TEXTS = {"CHAR", "VARCHAR"}
_BYTES = {"BINARY", "VARBINARY"}
_TIMESTAMPS = {"TIMESTAMP": {"TIMESTAMP"}, "TIMESTAMP_LTZ": {"TIMESTAMP", "TIMESTAMP_LTZ"}}
_TIMESTAMPS["TIMESTAMP_TZ"] = _TIMESTAMPS["TIMESTAMP_LTZ"]
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}


class DeclaredTypes:
    """The types of columns that have been declared, for the messages of one table.

    Args:
        types: The types, by name of the column.
    """

    def __init__(self, types: Mapping[str, DataType]) -> None:
        self._types = types
        self._held: dict[str, DataType] = {}

    def keep(self, columns: dict[str, DataType], rows: Iterable[RowImage | None]) -> dict[str, DataType]:
        """Return the columns of some rows, of which those whose values a declared type holds have that type.

        Args:
            columns: The columns as the rows are, by name.
            rows: The rows.
        """
        held = self._held
        unsure = [name for name in self._types if name in columns and held.get(name) is not columns[name]]
        if not unsure:
            return columns
        typed_columns = dict(columns)
        present = [row for row in rows if row is not None]
        for name in unsure:
            type_, inferred = self._types[name], columns[name]
            if _holds_all(type_, inferred):
                # Types are the same objects in most messages
                held[name] = inferred
                continue
            values = [row[name] for row in present if row.get(name) is not None]
            typed_columns[name] = with_nullability(_type_of(values, type_, inferred), inferred.nullable)
        return typed_columns


@functools.lru_cache(maxsize=4096)
def _holds_all(declared: DataType, inferred: DataType) -> bool:
    """Return whether a type holds all values of another one, so that no value needs a look."""
    return inferred == NULL or least_common_type(with_nullability(declared, True), inferred) == with_nullability(
        declared, True
    )


def _type_of(values: list[Any], declared: DataType, inferred: DataType) -> DataType:
    if all(holds(declared, value) for value in values):
        return declared
    if isinstance(declared, ScalarType) and declared.kind == "DECIMAL":
        # More digits, where numbers have them, rather than the text that a DOUBLE would make of the column
        fitted: list[DataType] = [_fitting_type(with_nullability(declared, True), value) for value in values]
        return functools.reduce(least_common_type, fitted)
    return inferred


def holds(type_: DataType, value: Any) -> bool:
    """Return whether a value in JSON is one of a type."""
    if value is None:
        return type_.nullable
    if isinstance(type_, ArrayType):
        return isinstance(value, list) and all(holds(type_.element, array_value) for array_value in value)
    if isinstance(type_, MapType):
        return isinstance(value, dict) and all(
            holds(type_.key, key) and holds(type_.value, map_value) for key, map_value in value.items()
        )
    if isinstance(type_, RowType):
        return (
            isinstance(value, dict)
            and value.keys() <= type_.types.keys()
            and all(holds(field.type, value.get(field.name)) for field in type_.fields)
        )
    return _holds_scalar(type_, value)


def _holds_scalar(type_: ScalarType, value: Any) -> bool:
    kind = type_.kind
    if kind in ("STRING", "VARIANT"):
        return True
    if kind in _TEXTS:
        return not isinstance(value, list | dict) and len(_text(value)) <= (type_.size or 0)
    if kind in _BYTES:
        return _holds_bytes(type_.size or 0, value)
    if kind in _TIMESTAMPS:
        return isinstance(value, str) and _holds_timestamp(type_, value)
    if kind in ("FLOAT", "DOUBLE") and isinstance(value, str) and value in _NOT_FINITE:
        return True
    if kind == "FLOAT":
        return _holds_float(value)
    if kind != "BOOLEAN" and isinstance(value, Decimal) and abs(value.adjusted()) <= MAX_DIGITS:
        # Zeros at the end are no digits to keep
        value = int(value) if value == value.to_integral_value() else value.normalize(_exact)
    nullable = with_nullability(type_, True)
    return _fitting_type(nullable, value) == nullable


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _holds_bytes(size: int, value: Any) -> bool:
    try:
        return isinstance(value, str) and len(base64.b64decode(value, validate=True)) <= size
    except (binascii.Error, ValueError):
        return False


def _holds_timestamp(type_: ScalarType, text: str) -> bool:
    types = (read(text) for read in _time_types)
    if not any(isinstance(inferred, ScalarType) and inferred.kind in _TIMESTAMPS[type_.kind] for inferred in types):
        return False
    _, _, fraction = text.partition(".")
    digits = fraction[: next((i for i, char in enumerate(fraction) if not char.isdigit()), MAX_PRECISION)].rstrip("0")
    return len(digits) <= (MAX_PRECISION if type_.size is None else type_.size)


def _holds_float(value: Any) -> bool:
    try:
        # Either its shortest text, or the text of its value as a DOUBLE
        number = float(value) if not isinstance(value, bool | list | dict) else None
        is_exact = number is not None and struct.unpack("f", struct.pack("f", number))[0] == number
    except (ValueError, OverflowError):
        return False
    return is_exact or _fitting_type(ScalarType("FLOAT"), value) == ScalarType("FLOAT")
