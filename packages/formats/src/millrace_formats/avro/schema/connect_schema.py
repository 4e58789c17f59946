"""The schemas of Kafka Connect that Avro schemas were converted from, by the rules of Confluent's converter."""

from __future__ import annotations

import json
from typing import Any

from millrace_formats.avro.schema.model import (
    UNKNOWN_PRECISION,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    Fixed,
    LogicalType,
    Primitive,
    Record,
    split_nullable,
)

_KINDS = {"int": "int32", "long": "int64", "null": "string"}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_NAMES = {
    "date": "org.apache.kafka.connect.data.Date",
    "time-millis": "org.apache.kafka.connect.data.Time",
    "time-micros": "io.debezium.time.MicroTime",
    "timestamp-millis": "org.apache.kafka.connect.data.Timestamp",
    "timestamp-micros": "io.debezium.time.MicroTimestamp",
    "timestamp-nanos": "io.debezium.time.NanoTimestamp",
    "local-timestamp-millis": "io.debezium.time.Timestamp",
    "local-timestamp-micros": "io.debezium.time.MicroTimestamp",
    "local-timestamp-nanos": "io.debezium.time.NanoTimestamp",
}
"""Names of Kafka Connect's types by Avro's logical ones, for schemas that do not name the former."""


def connect_schema(envelope: Record) -> bytes:
    """Return the schema of a change, as JSON: those of its records, with the types of their fields.

    What records within the fields have is left out: such values have no columns of their own.
    """
    rows = ((field.name, split_nullable(field.type)[0]) for field in envelope.fields)
    fields = [
        {
            "field": name,
            "type": "struct",
            "fields": [{"field": part.name, **_declared(part.type)} for part in row.fields],
        }
        for name, row in rows
        if isinstance(row, Record)
    ]
    return json.dumps({"type": "struct", "fields": fields}).encode()


def _declared(nullable: AvroType) -> dict[str, Any]:
    type_, _ = split_nullable(nullable)
    if isinstance(type_, Primitive):
        return _primitive(type_)
    if isinstance(type_, Fixed):
        return {"type": "bytes", **_logical(type_.logical)}
    if isinstance(type_, AvroEnum):
        return {"type": "string"}
    if isinstance(type_, AvroArray):
        return {"type": "array", "items": _declared(type_.items)}
    if isinstance(type_, AvroMap):
        return {"type": "map", "keys": {"type": "string"}, "values": _declared(type_.values)}
    return {"type": "struct", "name": type_.name} if isinstance(type_, Record) else {"type": "struct"}


def _primitive(type_: Primitive) -> dict[str, Any]:
    declared = {"type": _KINDS.get(type_.kind, type_.kind), **_logical(type_.logical)}
    connect = type_.connect
    if connect is None:
        return declared
    parameters = {**declared.get("parameters", {}), **connect.parameters}
    kind, name = connect.kind or declared["type"], connect.name or declared.get("name")
    return {"type": kind, "name": name, "parameters": parameters}


def _logical(logical: LogicalType | None) -> dict[str, Any]:
    if logical is None:
        return {}
    if logical.name != "decimal":
        return {"name": _NAMES[logical.name]} if logical.name in _NAMES else {}
    parameters = {"scale": str(logical.scale)}
    if logical.precision != UNKNOWN_PRECISION:
        parameters["connect.decimal.precision"] = str(logical.precision)
    return {"name": _DECIMAL, "parameters": parameters}
