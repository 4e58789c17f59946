"""Convert the values of a row's JSON to the types of a table's columns.

The result is JSON again, in which each type has one form: numbers and booleans as such, a DECIMAL as a number with all
its digits, times as texts, bytes in base64, and what becomes STRING as its JSON text.
"""

from __future__ import annotations

import base64
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from millrace.connect_decimals import decimal_advice
from millrace.errors import MalformedMessageError
from millrace_catalog.types import ArrayType, Column, DataType, MapType, RowType
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.model import MAX_DIGITS
from millrace_cdc.rows import exact_json

Convert = Callable[[Any], Any]

_TRUE = {"true", "1"}
_FALSE = {"false", "0"}
_TIMES = {"DATE", "TIME"}
_DATE_LENGTH = len("2024-05-06")
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_MIN_EXPONENT = -1_000
"""Exponents below would make texts that are mostly zeros, of any length."""

_INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
_TEXTS = {"CHAR", "VARCHAR", "STRING"}


def row_converter(columns: Iterable[Column]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that converts a row to columns, in their order; those that the row lacks are NULL.

    The function raises MalformedMessageError for a value that a column cannot hold.
    """
    columns = tuple(columns)
    names = [column.name for column in columns]
    convert = values_converter(columns)
    return lambda row: convert(map(row.get, names))


def values_converter(columns: Iterable[Column]) -> Callable[[Iterable[Any]], dict[str, Any]]:
    """Return a function that converts the values of columns, in the columns' order, to a row: see `row_converter`."""
    converts = [(column.name, _converter(column.type), column.type) for column in columns]

    def convert_values(values: Iterable[Any]) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for (name, convert, type_), value in zip(converts, values, strict=True):
            try:
                converted[name] = None if value is None else convert(value)
            except (ValueError, TypeError, ArithmeticError):
                advice = decimal_advice(value) if getattr(type_, "kind", None) == "DECIMAL" else ""
                raise MalformedMessageError(
                    f"expected {type_}, found {_shown(value)}{advice}", quote_name(name)
                ) from None
        return converted

    return convert_values


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)


@functools.lru_cache(maxsize=4096)
def _converter(type_: DataType) -> Convert:
    """Return a function that converts a value other than null."""
    if isinstance(type_, ArrayType):
        element = _or_null(_converter(type_.element))
        return lambda values: [element(value) for value in _expect(values, list)]
    if isinstance(type_, MapType):
        inner = _or_null(_converter(type_.value))
        return lambda values: {name: inner(value) for name, value in _expect(values, dict).items()}
    if isinstance(type_, RowType):
        fields = row_converter(type_.fields)
        return lambda value: fields(_expect(value, dict))
    if type_.kind in _TEXTS:
        return _to_text
    if type_.kind in _INTEGERS:
        return _to_integer
    if type_.kind in _TIMES:
        return lambda value: _expect(value, str)
    if type_.kind == "DECIMAL":
        return _decimal_converter((type_.size or MAX_DIGITS) - (type_.scale or 0))
    return _OTHERS[type_.kind]


def _or_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _expect(value: Any, *types: type) -> Any:
    if not isinstance(value, types):
        raise TypeError
    return value


def _to_text(value: Any) -> str:
    return value if type(value) is str else exact_json.encode(value).decode()


def _to_integer(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, Decimal):
        # An exponent may stand for more digits than fit into the memory
        if value.adjusted() > MAX_DIGITS or value != value.to_integral_value():
            raise ValueError
        return int(value)
    return int(_expect(value, str))


def _to_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    return int(text) != 0


def _to_float(value: Any) -> float | str:
    number = value if type(value) is float else float(_expect(value, str, int, Decimal))
    # JSON has no numbers of these: Kafka Connect writes the same texts
    return number if math.isfinite(number) else _NOT_FINITE[str(number)]


def _decimal_converter(digits: int) -> Convert:
    """Return a converter to a DECIMAL with some digits before the point."""

    def to_decimal(value: Any) -> msgspec.Raw:
        number = Decimal(_expect(value, str, int, Decimal))
        if not number.is_finite() or (number and not _MIN_EXPONENT < number.adjusted() < digits):
            raise ValueError
        return msgspec.Raw(format(number, "f").encode())

    return to_decimal


def _to_timestamp(value: Any) -> str:
    text: str = _expect(value, str)
    # As SQL writes it, also where messages have the T of ISO-8601
    is_iso = text[_DATE_LENGTH : _DATE_LENGTH + 1] == "T"
    return f"{text[:_DATE_LENGTH]} {text[_DATE_LENGTH + 1 :]}" if is_iso else text


def _to_local_timestamp(value: Any) -> str:
    text = _to_timestamp(value)
    # A TIMESTAMP that became a TIMESTAMP_LTZ has no time zone in its text
    has_zone = text.endswith("Z") or "+" in text[_DATE_LENGTH:] or "-" in text[_DATE_LENGTH:]
    return text if has_zone else f"{text}Z"


def _to_base64(value: Any) -> str:
    base64.b64decode(_expect(value, str), validate=True)
    return str(value)


_OTHERS: dict[str, Convert] = {
    "BOOLEAN": _to_boolean,
    "FLOAT": _to_float,
    "DOUBLE": _to_float,
    "TIMESTAMP": _to_timestamp,
    "TIMESTAMP_LTZ": _to_local_timestamp,
    "TIMESTAMP_TZ": _to_local_timestamp,
    "BINARY": _to_base64,
    "VARBINARY": _to_base64,
    "VARIANT": lambda value: value,
    "NULL": _to_text,
}
