"""The type of a JSON value. A value that is there is NOT NULL, so that types tell what may be NULL."""

from __future__ import annotations

from typing import Any

from millrace_catalog.inference.time_texts import time_text_reader
from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    NULL,
    STRING,
    Array,
    Column,
    DataType,
    Row,
    Scalar,
    decimal,
    least_common_type,
    with_nullability,
)
from millrace_catalog.types.model import MAX_DIGITS

DEEPEST = 32
"""How deep arrays and objects may stand in each other; those further inside are text."""

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1


def _required(type_: Scalar) -> DataType:
    return with_nullability(type_, False)


_STRING, _BIGINT, _DOUBLE, _BOOLEAN = map(_required, (STRING, BIGINT, DOUBLE, BOOLEAN))


class ValueTypes:
    """Tells the types of JSON values.

    Args:
        iso: How timestamps are written, see `time_text_reader`.
        primitive_as_string: Whether numbers, booleans and texts are all STRING.
        with_rows: Whether objects are ROW, else STRING.
    """

    def __init__(self, *, iso: bool, primitive_as_string: bool, with_rows: bool) -> None:
        self._time_type = time_text_reader(iso)
        self._plain = primitive_as_string
        self._with_rows = with_rows

    def of(self, value: Any, depth: int = 0) -> DataType:
        """The type of a value that stands in ``depth`` arrays and objects of its column."""
        if isinstance(value, list):
            return self._of_list(value, depth) if depth < DEEPEST else _STRING
        if isinstance(value, dict):
            return self._of_object(value, depth) if self._with_rows and depth < DEEPEST else _STRING
        if value is None:
            return NULL
        return _STRING if self._plain else self._of_primitive(value)

    def _of_primitive(self, value: str | float | bool) -> DataType:
        if isinstance(value, str):
            return self._time_type(value) or _STRING
        if isinstance(value, bool):
            return _BOOLEAN
        return _BIGINT if isinstance(value, int) and _LOW <= value <= _HIGH else self._of_number(value)

    def _of_number(self, value: float) -> DataType:
        if isinstance(value, float):
            return _DOUBLE
        digits = len(str(abs(value)))
        return _required(decimal(digits)) if digits <= MAX_DIGITS else _STRING

    def _of_list(self, values: list[Any], depth: int) -> DataType:
        element: DataType | None = None
        for value in values:
            type_ = self.of(value, depth + 1)
            if element is None:
                element = type_
            elif type_ is not element:
                element = least_common_type(element, type_)
        return Array(NULL if element is None else element, nullable=False)

    def _of_object(self, value: dict[str, Any], depth: int) -> DataType:
        return Row(tuple(Column(name, self.of(inner, depth + 1)) for name, inner in value.items()), nullable=False)
