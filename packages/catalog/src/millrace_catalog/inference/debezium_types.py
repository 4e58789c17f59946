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
from typing import Any

import msgspec

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import describe
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
    Array,
    DataType,
    Map,
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


@dataclass(frozen=True)
class DeclaredRow:
    """The columns of a table as a schema declares them.

    Attributes:
        types: Their types, by name.
        converts: Conversions of those whose values are not yet as their types say.
    """

    types: Mapping[str, DataType]
    converts: Mapping[str, Convert]

    def convert(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the values that its types have: texts of dates and times, numbers of decimals.

        Raises:
            MalformedMessageError: A value is not what the schema declares, or beyond what its type holds.
        """
        converted = dict(row)
        for name, convert in self.converts.items():
            value = converted.get(name)
            if value is not None:
                try:
                    converted[name] = convert(value)
                except (ValueError, TypeError, ArithmeticError, LookupError):
                    raise MalformedMessageError(
                        f"no {self.types[name]} can be {describe(value)}", quote_name(name)
                    ) from None
        return converted


@functools.lru_cache(maxsize=4096)
def declared_row(schema: bytes) -> DeclaredRow | None:
    """Return the columns that a message's schema declares; None when it declares no rows.

    Args:
        schema: The schema of a message, as JSON.

    Raises:
        MalformedMessageError: It is none of Kafka Connect's.
    """
    declared = msgspec.json.decode(schema)
    fields = {each.get("field"): each for each in _fields(declared)}
    row = fields.get("after") or fields.get("before")
    if row is None:
        return None
    found = {str(each.get("field")): _declared(each) for each in _fields(row)}
    return DeclaredRow(
        {name: type_ for name, (type_, _) in found.items()},
        {name: convert for name, (_, convert) in found.items() if convert is not None},
    )


def primitives_as_strings(types: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return types with STRING instead of all but arrays and maps."""
    return {name: type_ if isinstance(type_, Array | Map) else STRING for name, type_ in types.items()}


def _fields(schema: Any) -> list[dict[str, Any]]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if schema is None or (isinstance(schema, dict) and fields is None):
        return []
    if not isinstance(fields, list) or not all(isinstance(each, dict) for each in fields):
        raise MalformedMessageError("field schema: expected a schema of Kafka Connect")
    return fields


def _declared(schema: Mapping[str, Any]) -> tuple[DataType, Convert | None]:
    """Return the type of a value, and the conversion to it where one is needed."""
    name, kind = schema.get("name"), schema.get("type")
    if name == "org.apache.kafka.connect.data.Decimal":
        return _declared_decimal(schema.get("parameters") or {})
    if name == "io.debezium.data.Bits":
        return BYTES, functools.partial(_to_bits, int((schema.get("parameters") or {}).get("length", 0)))
    logical = _LOGICAL.get(name) if isinstance(name, str) else None
    if logical is not None:
        return logical
    if kind == "array":
        element, convert = _declared(schema.get("items") or {})
        return Array(element), None if convert is None else functools.partial(_convert_all, convert)
    if kind == "map" and (schema.get("keys") or {}).get("type") == "string":
        inner, convert = _declared(schema.get("values") or {})
        return Map(STRING, inner), None if convert is None else functools.partial(_convert_values, convert)
    # What has parts of its own is the text of its JSON
    return _PRIMITIVES.get(kind, STRING) if isinstance(kind, str) else STRING, None


def _convert_all(convert: Convert, values: list[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _convert_values(convert: Convert, values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value is None else convert(value) for name, value in values.items()}


def _declared_decimal(parameters: Mapping[str, Any]) -> tuple[DataType, Convert]:
    scale = int(parameters.get("scale", 0))
    digits = int(parameters.get("connect.decimal.precision", MAX_DIGITS))
    # Oracle's scales may be above the precision, for zeros behind the point, or below 0, for zeros before it
    size = max(digits, scale) - min(scale, 0)
    # Only text has more digits than fit
    type_ = decimal(size, max(scale, 0)) if size <= MAX_DIGITS else STRING
    return type_, functools.partial(_to_number, scale)


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
    found = base64.b64decode(value, validate=True)
    size = 0 if length >= _ANY_LENGTH else -(-length // 8)
    return base64.b64encode(found.ljust(size, b"\0")).decode()


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
    # PostgreSQL's infinity is a text too
    datetime.fromisoformat(value).astimezone(UTC)
    return value


def _to_plain_number(value: Mapping[str, Any]) -> str:
    return _to_number(value["scale"], value["value"])


_MILLIS, _MICROS, _NANOS = (1_000, 3), (1_000_000, 6), (1_000_000_000, 9)
_LOGICAL: dict[str, tuple[DataType, Convert | None]] = {
    "io.debezium.time.Date": (DATE, _to_date),
    "io.debezium.time.Time": (time(3), _time(*_MILLIS)),
    "io.debezium.time.MicroTime": (time(6), _time(*_MICROS)),
    "io.debezium.time.NanoTime": (time(9), _time(*_NANOS)),
    "io.debezium.time.Timestamp": (timestamp(3), _timestamp(*_MILLIS)),
    "io.debezium.time.MicroTimestamp": (timestamp(6), _timestamp(*_MICROS)),
    "io.debezium.time.NanoTimestamp": (timestamp(9), _timestamp(*_NANOS)),
    "io.debezium.time.ZonedTimestamp": (timestamp_ltz(6), _to_instant),
    "org.apache.kafka.connect.data.Date": (DATE, _to_date),
    "org.apache.kafka.connect.data.Time": (time(3), _time(*_MILLIS)),
    "org.apache.kafka.connect.data.Timestamp": (timestamp(3), _timestamp(*_MILLIS)),
    # The scale is that of each value, so that no DECIMAL is the type of all
    "io.debezium.data.VariableScaleDecimal": (STRING, _to_plain_number),
}
