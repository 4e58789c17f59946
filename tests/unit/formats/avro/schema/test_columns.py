"""Columns of Avro records."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import SchemaError
from millrace_formats.avro.schema.columns import columns_of
from millrace_formats.avro.schema.derivation import derive_record
from millrace_formats.avro.schema.parser import parse_schema


def columns(*types: Any) -> pa.Schema | None:
    fields = [{"name": f"f{index}", "type": type_} for index, type_ in enumerate(types)]
    record = {"type": "record", "name": "shop.Order", "fields": fields}
    return columns_of("avro-confluent", parse_schema(json.dumps(record)))


def test_columns_have_the_types_that_they_were_derived_from() -> None:
    types = [
        pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32(),
        pa.time64("us"), pa.decimal128(10, 2), pa.timestamp("us", "UTC"), pa.timestamp("us"),
    ]  # fmt: skip
    fields = [pa.field(f"c{index}", type_) for index, type_ in enumerate(types)]
    inner = pa.struct(fields)
    schema = pa.schema([*fields, ("list", pa.list_(inner)), ("map", pa.map_(pa.string(), inner)), ("struct", inner)])
    found = columns_of("avro-confluent", derive_record(list(schema), False))
    assert found is not None
    assert [(field.name, field.type) for field in found] == [(field.name, field.type) for field in schema]


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.string()),
        ({"type": "fixed", "name": "F", "size": 3}, pa.binary()),
        ({"type": "string", "logicalType": "uuid"}, pa.string()),
        (["null", "int", "long"], pa.int64()),
        (["int", "double"], pa.float64()),
        ({"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}, pa.timestamp("us")),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 4}, pa.decimal128(4, 4)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": -2}, pa.decimal128(5, 0)),
        ("null", pa.string()),
    ],
)
def test_types_of_fields(schema: Any, type_: pa.DataType) -> None:
    found = columns(schema)
    assert found is not None
    assert found.types == [type_]


@pytest.mark.parametrize(
    "schema",
    [
        ["int", "string"],
        "shop.Order",
        {"type": "bytes", "logicalType": "decimal", "precision": 50},
        {"type": "bytes", "logicalType": "decimal", "scale": 2},
    ],
)
def test_a_field_that_tells_no_column_is_named(schema: Any) -> None:
    with pytest.raises(SchemaError, match="has no column type for field f1, which is"):
        columns("int", schema)


def test_other_types_than_records_have_no_columns() -> None:
    assert columns_of("avro-confluent", parse_schema('"string"')) is None
    assert columns() is None
