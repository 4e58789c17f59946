"""Rows and their schemas as Debezium and Kafka Connect's JsonConverter write them.

A schema gives names to what JSON has no types for: https://debezium.io/documentation/reference/stable/connectors/postgresql.html
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any

from millrace_cdc.rows.compiled_readers import row_rewriter

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Convert = Callable[[Any], Any]

_PRIMITIVES = {
    "boolean": "boolean",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float",
    "double": "double",
    "binary": "bytes",
}
_EPOCH = datetime(1970, 1, 1)
_MILLISECOND, _MICROSECOND = timedelta(milliseconds=1), timedelta(microseconds=1)
_MILLIS_DIGITS = 3
_exact = Context(prec=200)


def connect_struct(schema: StructType) -> dict[str, Any]:
    """Return the schema of rows."""
    fields = [_schema_of(field.dataType, optional=field.nullable) | {"field": field.name} for field in schema]
    return {"type": "struct", "fields": fields}


def row_encoder(schema: StructType) -> Callable[[bytes], bytes]:
    """Return a function from a row as JSON to the JSON that `connect_struct` describes; ``null`` stays."""
    converts = {field.name: convert for field in schema if (convert := _converter(field.dataType)) is not None}
    if not converts:
        return lambda row: row
    rewrite = row_rewriter(schema.fieldNames(), converts)
    return lambda row: row if row == b"null" else rewrite(row)


def _schema_of(type_: DataType, *, optional: bool) -> dict[str, Any]:
    from pyspark.sql import types as sql

    if isinstance(type_, sql.ArrayType):
        items = _schema_of(type_.elementType, optional=type_.containsNull)
        return {"type": "array", "items": items, "optional": optional}
    if isinstance(type_, sql.MapType):
        keys, values = (
            _schema_of(type_.keyType, optional=False),
            _schema_of(type_.valueType, optional=type_.valueContainsNull),
        )
        return {"type": "map", "keys": keys, "values": values, "optional": optional}
    if isinstance(type_, sql.StructType):
        return connect_struct(type_) | {"optional": optional}
    kind, name = _named(type_)
    schema: dict[str, Any] = {"type": kind, "optional": optional}
    if name is not None:
        schema |= {"name": name, "version": 1}
    if isinstance(type_, sql.DecimalType):
        schema["parameters"] = {"scale": str(type_.scale), "connect.decimal.precision": str(type_.precision)}
    return schema


def _named(type_: DataType) -> tuple[str, str | None]:
    from pyspark.sql import types as sql

    if isinstance(type_, sql.DecimalType):
        return "bytes", "org.apache.kafka.connect.data.Decimal"
    if isinstance(type_, sql.DateType):
        return "int32", "io.debezium.time.Date"
    if isinstance(type_, sql.TimeType):
        is_millis = type_.precision <= _MILLIS_DIGITS
        return ("int32", "io.debezium.time.Time") if is_millis else ("int64", "io.debezium.time.MicroTime")
    if isinstance(type_, sql.TimestampNTZType):
        return "int64", "io.debezium.time.MicroTimestamp"
    if isinstance(type_, sql.TimestampType):
        return "string", "io.debezium.time.ZonedTimestamp"
    return _PRIMITIVES.get(type_.simpleString(), "string"), None


def _converter(type_: DataType) -> Convert | None:
    """Return a function for values other than null; None where they stay as they are."""
    from pyspark.sql import types as sql

    if isinstance(type_, sql.ArrayType):
        element = _or_null(_converter(type_.elementType))
        return None if element is None else lambda values: [element(value) for value in values]
    if isinstance(type_, sql.MapType):
        inner = _or_null(_converter(type_.valueType))
        return None if inner is None else lambda value: {name: inner(map_value) for name, map_value in value.items()}
    if isinstance(type_, sql.StructType):
        fields = {
            field.name: convert for field in type_ if (convert := _or_null(_converter(field.dataType))) is not None
        }
        return (lambda value: value | {name: fields[name](value.get(name)) for name in fields}) if fields else None
    if isinstance(type_, sql.DecimalType):
        scale = type_.scale
        return lambda value: _to_unscaled(value, scale)
    if isinstance(type_, sql.TimeType):
        return _to_millis if type_.precision <= _MILLIS_DIGITS else _to_micros
    return _TIMES.get(type(type_).__name__)


def _or_null(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _to_unscaled(value: Any, scale: int) -> str:
    # Digits behind the scale are rounded, as where a column of the type is written
    unscaled = int(Decimal(value).scaleb(scale, _exact).to_integral_value(ROUND_HALF_UP))
    length = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(length, "big", signed=True)).decode()


def _to_days(value: str) -> int:
    return date.fromisoformat(value).toordinal() - _EPOCH.toordinal()


def _since_midnight(value: str) -> timedelta:
    clock = time.fromisoformat(value)
    return timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second, microseconds=clock.microsecond)


def _to_millis(value: str) -> int:
    return _since_midnight(value) // _MILLISECOND


def _to_micros(value: str) -> int:
    return _since_midnight(value) // _MICROSECOND


def _to_epoch_micros(value: str) -> int:
    return (datetime.fromisoformat(value) - _EPOCH) // _MICROSECOND


def _to_instant(value: str) -> str:
    moment = datetime.fromisoformat(value).astimezone(UTC)
    text = moment.replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


_TIMES: dict[str, Convert] = {
    "DateType": _to_days,
    "TimestampNTZType": _to_epoch_micros,
    "TimestampType": _to_instant,
}
