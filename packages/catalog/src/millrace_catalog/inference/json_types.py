"""Column types of JSON values and objects. A value is NOT NULL, so that types say what may be NULL."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from millrace_catalog.inference.observation import Path
from millrace_catalog.inference.options import FormatOptions, Nesting
from millrace_catalog.inference.time_texts import time_text_reader
from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    NULL,
    STRING,
    ArrayType,
    Column,
    DataType,
    RowType,
    ScalarType,
    decimal,
    least_common_type,
    with_nullability,
)
from millrace_catalog.types.model import MAX_DIGITS

MAX_DEPTH = 32
"""Maximum nesting of arrays and objects; those further inside are STRING."""

_MIN_BIGINT, _MAX_BIGINT = -(1 << 63), (1 << 63) - 1


def _not_null(type_: ScalarType) -> DataType:
    return with_nullability(type_, False)


_STRING, _BIGINT, _DOUBLE, _BOOLEAN = map(_not_null, (STRING, BIGINT, DOUBLE, BOOLEAN))


class JsonValueTypes:
    """Infer the types of JSON values.

    Args:
        iso: Format of timestamps, see `time_text_reader`.
        primitive_as_string: Whether numbers, booleans and texts are all STRING.
        with_rows: Whether objects are ROW, else STRING.
    """

    def __init__(self, *, iso: bool, primitive_as_string: bool, with_rows: bool) -> None:
        self._time_type = time_text_reader(iso)
        self._primitive_as_string = primitive_as_string
        self._with_rows = with_rows

    def type_of(self, value: Any, depth: int = 0) -> DataType:
        """Infer the type of a value within ``depth`` arrays and objects of its column."""
        if isinstance(value, list):
            return self._array_type(value, depth) if depth < MAX_DEPTH else _STRING
        if isinstance(value, dict):
            return self._row_type(value, depth) if self._with_rows and depth < MAX_DEPTH else _STRING
        if value is None:
            return NULL
        return _STRING if self._primitive_as_string else self._primitive_type(value)

    def _primitive_type(self, value: str | float | Decimal | bool) -> DataType:
        if isinstance(value, str):
            return self._time_type(value) or _STRING
        if isinstance(value, bool):
            return _BOOLEAN
        is_bigint = isinstance(value, int) and _MIN_BIGINT <= value <= _MAX_BIGINT
        return _BIGINT if is_bigint else self._number_type(value)

    def _number_type(self, value: float | Decimal) -> DataType:
        if isinstance(value, float | Decimal):
            return _DOUBLE
        digits = len(str(abs(value)))
        return _not_null(decimal(digits)) if digits <= MAX_DIGITS else _STRING

    def _array_type(self, values: list[Any], depth: int) -> DataType:
        element: DataType | None = None
        for value in values:
            type_ = self.type_of(value, depth + 1)
            if element is None:
                element = type_
            elif type_ is not element:
                element = least_common_type(element, type_)
        return ArrayType(NULL if element is None else element, nullable=False)

    def _row_type(self, value: dict[str, Any], depth: int) -> DataType:
        fields = (Column(name, self.type_of(inner, depth + 1)) for name, inner in value.items())
        return RowType(tuple(fields), nullable=False)


class JsonObjectColumns:
    """Infer the columns of JSON objects.

    Args:
        options: Options of the format.
        nesting: What nested objects become.
        fixed: Types of the columns that are not inferred, by name.
    """

    def __init__(
        self, options: FormatOptions, nesting: Nesting = "string", fixed: Mapping[str, DataType] | None = None
    ) -> None:
        self._values = JsonValueTypes(
            iso=options.iso, primitive_as_string=options.primitive_as_string, with_rows=nesting == "struct"
        )
        self._fixed = fixed or {}
        self._flattens = nesting == "flatten"

    def columns_of(self, row: Mapping[str, Any]) -> tuple[dict[str, DataType], frozenset[Path]]:
        """Infer the columns of an object, and their paths in it if nested fields become columns."""
        if self._flattens:
            return self._flatten(row)
        type_of, fixed = self._values.type_of, self._fixed
        if fixed:
            return {name: fixed.get(name) or type_of(value) for name, value in row.items()}, frozenset()
        return {name: type_of(value) for name, value in row.items()}, frozenset()

    def flatten(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the values of an object by the columns that `columns_of` gives it."""
        if not self._flattens:
            return row
        _, paths = self._flatten(row)
        return {".".join(path): _value_at(row, path) for path in sorted(paths)}

    def _flatten(self, row: Mapping[str, Any]) -> tuple[dict[str, DataType], frozenset[Path]]:
        columns: dict[str, DataType] = {}
        paths: list[Path] = []
        self._add_fields(row, (), columns, paths)
        return columns, frozenset(paths)

    def _add_fields(self, row: Mapping[str, Any], outer: Path, columns: dict[str, DataType], paths: list[Path]) -> None:
        for field, value in row.items():
            path = (*outer, field)
            name = ".".join(path)
            is_object = isinstance(value, dict) and name not in self._fixed and len(path) <= MAX_DEPTH
            if is_object and value:
                self._add_fields(value, path, columns, paths)
                continue
            # An object without fields says nothing about its columns
            type_ = self._fixed.get(name) or (NULL if is_object else self._values.type_of(value, len(path) - 1))
            columns[name] = least_common_type(columns[name], type_) if name in columns else type_
            paths.append(path)


def _value_at(row: Mapping[str, Any], path: Path) -> Any:
    value: Any = row
    for name in path:
        value = value[name]
    return value
