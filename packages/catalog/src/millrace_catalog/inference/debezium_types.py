"""Column types that the schemas of Debezium's messages declare, and rows with the values that these types have.

Kafka Connect writes dates, times and decimals as numbers and bytes, which only the schema distinguishes from others:
https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any, Literal, NamedTuple

import msgspec

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import describe
from millrace_catalog.inference.out_of_range_texts import date_text, time_text, timestamp_text
from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    ArrayType,
    DataType,
    MapType,
    decimal,
    time,
    timestamp,
    timestamp_ltz,
)
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.model import BYTES, MAX_DIGITS

Convert = Callable[[Any], Any]

_EPOCH = date(1970, 1, 1).toordinal()
_SECONDS_OF_DAY = 86_400
_ANY_LENGTH = 2**31 - 1
"""The length of bits whose column has none."""

_PRIMITIVES: dict[str, DataType] = {
    "int8": TINYINT,
    "int16": SMALLINT,
    "int32": INT,
    "int64": BIGINT,
    "float": FLOAT,
    "float32": FLOAT,
    "double": DOUBLE,
    "float64": DOUBLE,
    "boolean": BOOLEAN,
    "bytes": BYTES,
    "string": STRING,
}
_exact = Context(prec=1_000)


OutOfRange = Literal["text", "null", "fail"]
"""The choice of what becomes of a date or time that its type does not hold, such as PostgreSQL's infinity."""

_PROBLEMS = (ValueError, TypeError, ArithmeticError, LookupError)


class Declared(NamedTuple):
    """The declaration of a value.

    Attributes:
        type: Its type.
        convert: The conversion to a value of the type; None where none is needed.
        text: The conversion of a value that the type does not hold to a text, or to a list of texts; None where there
            is none.
        wide: The type of these.
    """

    type: DataType
    convert: Convert | None = None
    text: Convert | None = None
    wide: DataType = STRING


@dataclass(frozen=True)
class DeclaredRow:
    """The columns of a table as a schema declares them.

    Attributes:
        columns: Their declarations, by name.
        types: Their types.
        converts: Conversions of those whose values are not yet as their types say.
    """

    columns: Mapping[str, Declared]
    types: Mapping[str, DataType]
    converts: Mapping[str, Convert]

    def convert(
        self, row: Mapping[str, Any], out_of_range: OutOfRange = "fail"
    ) -> tuple[dict[str, Any], Mapping[str, DataType]]:
        """Return a row with the values that its types have, texts of dates and times and numbers of decimals.

        Args:
            row: The row.
            out_of_range: What becomes of a date or time that its type does not hold.

        Returns:
            The row, and the types of columns that have become texts.

        Raises:
            MalformedMessageError: A value is not what the schema declares, or beyond what its type holds.
        """
        converted = dict(row)
        wide: dict[str, DataType] = {}
        for name, convert in self.converts.items():
            value = converted.get(name)
            if value is not None:
                try:
                    converted[name] = convert(value)
                except _PROBLEMS:
                    converted[name] = self._outside(name, value, out_of_range)
                    if out_of_range == "text":
                        wide[name] = self.columns[name].wide
        return converted, wide

    def _outside(self, name: str, value: Any, choice: OutOfRange) -> Any:
        declared = self.columns[name]
        try:
            if choice == "fail" or declared.text is None:
                raise ValueError
            texts = declared.text(value)
        except _PROBLEMS:
            raise MalformedMessageError(f"no {declared.type} can be {describe(value)}", quote_name(name)) from None
        return texts if choice == "text" else None


@functools.lru_cache(maxsize=4096)
def declared_row(schema: bytes) -> DeclaredRow | None:
    """Return the columns that a message's schema declares; None when it declares no rows.

    Args:
        schema: The schema of a message, as JSON.

    Raises:
        MalformedMessageError: It is none of Kafka Connect's.
    """
    declared = msgspec.json.decode(schema)
    fields = {field.get("field"): field for field in _fields(declared)}
    row = fields.get("after") or fields.get("before")
    if row is None:
        return None
    columns = {str(field.get("field")): _declared(field) for field in _fields(row)}
    return DeclaredRow(
        columns,
        {name: column.type for name, column in columns.items()},
        {name: column.convert for name, column in columns.items() if column.convert is not None},
    )


def primitives_as_strings(types: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return types with STRING instead of all but arrays and maps."""
    return {name: type_ if isinstance(type_, ArrayType | MapType) else STRING for name, type_ in types.items()}


def _fields(schema: Any) -> list[dict[str, Any]]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if schema is None or (isinstance(schema, dict) and fields is None):
        return []
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        raise MalformedMessageError("field schema: expected a schema of Kafka Connect")
    return fields


def _declared(schema: Mapping[str, Any]) -> Declared:
    """Return the declaration of a value."""
    name, kind = schema.get("name"), schema.get("type")
    if name == "org.apache.kafka.connect.data.Decimal":
        return _declared_decimal(schema.get("parameters") or {})
    if name == "io.debezium.data.Bits":
        return Declared(BYTES, functools.partial(_to_bits, int((schema.get("parameters") or {}).get("length", 0))))
    logical = _LOGICAL.get(name) if isinstance(name, str) else None
    if logical is not None:
        return logical
    if kind == "array":
        return _declared_array(_declared(schema.get("items") or {}))
    if kind == "map" and (schema.get("keys") or {}).get("type") == "string":
        inner = _declared(schema.get("values") or {})
        convert = None if inner.convert is None else functools.partial(_convert_values, inner.convert)
        return Declared(MapType(STRING, inner.type), convert)
    # What has parts of its own is the text of its JSON
    return Declared(_PRIMITIVES.get(kind, STRING) if isinstance(kind, str) else STRING)


def _declared_array(element: Declared) -> Declared:
    type_ = ArrayType(element.type)
    if element.convert is None:
        return Declared(type_)
    convert = functools.partial(_convert_all, element.convert)
    if element.text is None:
        return Declared(type_, convert)
    text = functools.partial(_convert_all, functools.partial(_convert_or_text, element.convert, element.text))
    return Declared(type_, convert, text, ArrayType(element.wide))


def _convert_or_text(convert: Convert, text: Convert, value: Any) -> Any:
    try:
        return convert(value)
    except _PROBLEMS:
        return text(value)


def _convert_all(convert: Convert, values: list[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _convert_values(convert: Convert, values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value is None else convert(value) for name, value in values.items()}


def _declared_decimal(parameters: Mapping[str, Any]) -> Declared:
    scale = int(parameters.get("scale", 0))
    digits = int(parameters.get("connect.decimal.precision", MAX_DIGITS))
    # Oracle's scales may be above the precision, for zeros behind the point, or below 0, for zeros before it
    size = max(digits, scale) - min(scale, 0)
    # Only text has more digits than fit
    type_ = decimal(size, max(scale, 0)) if size <= MAX_DIGITS else STRING
    return Declared(type_, functools.partial(_to_number, scale))


def _to_number(scale: int, value: Any) -> str:
    """Return the text of a decimal: bytes of its unscaled value in base64, or a number (``decimal.format``)."""
    if not isinstance(value, str):
        number = Decimal(str(value))
        if abs(number.adjusted()) > _exact.prec:
            raise ValueError
        return format(number, "f")
    unscaled = int.from_bytes(base64.b64decode(value, validate=True), "big", signed=True)
    return format(Decimal(unscaled).scaleb(-scale, _exact), "f")


def _to_bits(length: int, value: str) -> str:
    """Return the bytes of some bits, the lowest first, in base64: as many as their column declares, if it does.

    Debezium's documentation says so; its connector for PostgreSQL leaves out those above the highest bit that is set.
    """
    bits = base64.b64decode(value, validate=True)
    size = 0 if length >= _ANY_LENGTH else -(-length // 8)
    return base64.b64encode(bits.ljust(size, b"\0")).decode()


def _to_date(days: int) -> str:
    return date.fromordinal(_EPOCH + days).isoformat()


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _time(per_second: int, precision: int) -> Convert:
    def convert(value: int) -> str:
        seconds, fraction = divmod(_whole(value), per_second)
        if not 0 <= seconds < _SECONDS_OF_DAY:
            raise ValueError
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:0{precision}}"

    return convert


def _timestamp(per_second: int, precision: int) -> Convert:
    def convert(value: int) -> str:
        seconds, fraction = divmod(_whole(value), per_second)
        days, seconds = divmod(seconds, _SECONDS_OF_DAY)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{_to_date(days)} {clock}.{fraction:0{precision}}"

    return convert


def _to_instant(value: str) -> str:
    # PostgreSQL's infinity is a text too, which Python reads no more than years before 1
    datetime.fromisoformat(value).astimezone(UTC)
    return value


def _to_plain_number(value: Mapping[str, Any]) -> str:
    return _to_number(value["scale"], value["value"])


def _outside(text: Callable[[int], str]) -> Convert:
    return lambda value: text(_whole(value))


def _declared_date() -> Declared:
    return Declared(DATE, _to_date, _outside(date_text))


def _declared_time(unit: tuple[int, int]) -> Declared:
    return Declared(time(unit[1]), _time(*unit), _outside(time_text(*unit)))


def _declared_timestamp(unit: tuple[int, int]) -> Declared:
    return Declared(timestamp(unit[1]), _timestamp(*unit), _outside(timestamp_text(*unit)))


def _to_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


_MILLIS, _MICROS, _NANOS = (1_000, 3), (1_000_000, 6), (1_000_000_000, 9)
_LOGICAL: dict[str, Declared] = {
    "io.debezium.time.Date": _declared_date(),
    "io.debezium.time.Time": _declared_time(_MILLIS),
    "io.debezium.time.MicroTime": _declared_time(_MICROS),
    "io.debezium.time.NanoTime": _declared_time(_NANOS),
    "io.debezium.time.Timestamp": _declared_timestamp(_MILLIS),
    "io.debezium.time.MicroTimestamp": _declared_timestamp(_MICROS),
    "io.debezium.time.NanoTimestamp": _declared_timestamp(_NANOS),
    "io.debezium.time.ZonedTimestamp": Declared(timestamp_ltz(6), _to_instant, _to_text),
    "org.apache.kafka.connect.data.Date": _declared_date(),
    "org.apache.kafka.connect.data.Time": _declared_time(_MILLIS),
    "org.apache.kafka.connect.data.Timestamp": _declared_timestamp(_MILLIS),
    # The scale is that of each value, so that no DECIMAL is the type of all
    "io.debezium.data.VariableScaleDecimal": Declared(STRING, _to_plain_number),
}
