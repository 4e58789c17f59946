"""Rows as Avro messages, and values that cannot be written."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_formats.avro import AvroFormat, AvroOptions
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.avro.writer.encoder import DatumWriter, PyruhvroWriter
from millrace_formats.avro.writer.write_plan import plan_write
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import encoded

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
FINE = dt.datetime(2024, 5, 1, 12, 0, 0, 250_001)


def encode(columns: pa.Schema, *rows: dict[str, Any], **options: Any) -> list[bytes | None]:
    batch = pa.RecordBatch.from_pylist(list(rows), schema=columns)
    return list(AvroFormat(AvroOptions(**options)).encoder(columns).encode(batch).to_list())


def refusal(columns: pa.Schema, *rows: dict[str, Any], **options: Any) -> str:
    with pytest.raises(MessageError) as caught:
        encode(columns, *rows, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        ({"a": UTC}, {"a": FINE.replace(tzinfo=dt.UTC)},
         "column a, row 0: 2024-05-01 12:00:00.250001+00:00 has microseconds, which timestamp-millis cannot hold"),
        ({"a": pa.time64("us")}, {"a": dt.time(1, 2, 3, 4)},
         "column a, row 0: 01:02:03.000004 has microseconds, which time-millis cannot hold"),
        ({"a": pa.struct([("b", pa.list_(NTZ))])}, {"a": {"b": [None, FINE]}},
         "column a, row 0: field b: 2024-05-01 12:00:00.250001 has microseconds, which timestamp-millis cannot hold"),
    ],
)  # fmt: skip
def test_values_that_the_derived_schema_cannot_hold_are_refused(columns: Any, row: Any, reason: str) -> None:
    schema = pa.schema(list(columns.items()))
    assert refusal(schema, row) == reason


def test_nulls_in_not_null_columns_are_refused() -> None:
    inner = pa.field("b", pa.int32(), False)
    schema = pa.schema([("a", pa.struct([inner])), ("l", pa.list_(inner)), ("m", pa.map_(pa.string(), inner))])
    fine = {"a": {"b": 1}, "l": [1], "m": [("k", 1)]}
    for wrong, reason in (
        ({"a": {"b": None}}, "column a, row 1: field b: NULL in a NOT NULL column"),
        ({"l": [1, None]}, "column l, row 1: NULL in a NOT NULL column"),
        ({"m": [("k", None)]}, "column m, row 1: NULL in a NOT NULL column"),
    ):
        assert refusal(schema, fine, fine | wrong) == reason
    assert encode(schema, fine, {"a": None, "l": None, "m": None})[1] == b"\0\0\0"


def test_the_json_encoding_is_that_of_avro() -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), False),
            ("name", pa.string()),
            ("data", pa.binary()),
            ("tags", pa.list_(pa.string())),
            ("inner", pa.struct([("x", pa.float64())])),
            ("nothing", pa.int32()),
        ]
    )
    row = {"id": 1, "name": 'ü"', "data": b"\x00\xff", "tags": ["a", None], "inner": {"x": float("nan")}}
    (message,) = encode(schema, row, encoding="json")
    assert (
        message
        == (
            '{"id":1,"name":{"string":"ü\\""},"data":{"bytes":"\\u0000ÿ"},"tags":{"array":[{"string":"a"},null]},'
            '"inner":{"org.apache.flink.avro.generated.record_inner":{"x":{"double":"NaN"}}},"nothing":null}'
        ).encode()
    )


@pytest.mark.parametrize(
    ("type_", "of", "value"),
    [
        ("int", pa.int64(), 2**31 - 1),
        ("double", pa.float32(), 0.5),
        (["null", "int", "string"], pa.string(), "x"),
        (["string", "null"], pa.string(), None),
        ({"type": "fixed", "name": "F", "size": 12}, pa.binary(), b"abcdefghijkl"),
        ({"type": "long", "logicalType": "time-micros"}, pa.time64("us"), dt.time(1, 2, 3, 4)),
        ({"type": "long", "logicalType": "timestamp-micros"}, UTC, FINE.replace(tzinfo=dt.UTC)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4},
         pa.decimal128(10, 2), Decimal("-1.25")),
        ({"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2},
         pa.decimal128(9, 2), Decimal("-1.25")),
        ({"type": "fixed", "name": "D", "size": 20, "logicalType": "decimal", "precision": 38, "scale": 2},
         pa.decimal128(9, 2), Decimal("-1.25")),
    ],
)  # fmt: skip
def test_rows_are_written_by_a_given_schema(type_: Any, of: pa.DataType, value: Any) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}
    columns = pa.schema([("a", of)])
    (message,) = encode(columns, {"a": value}, schema=json.dumps(schema))
    assert message == encoded(schema, {"a": value})
    assert value_of(schema, message)["a"] == value


@pytest.mark.parametrize(
    ("type_", "of", "value", "reason"),
    [
        ("int", pa.int64(), 2**31, "2147483648 does not fit int, which has 32 bits"),
        ({"type": "fixed", "name": "F", "size": 2}, pa.binary(), b"abc", "the value does not have the 2 bytes of F"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, NTZ, dt.datetime(9999, 1, 1),
         "9999-01-01 00:00:00 does not fit timestamp-nanos, which has 64 bits"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}, pa.decimal128(10, 2), Decimal("1.25"),
         "1.25 does not fit decimal(4,1)"),
        ({"type": "fixed", "name": "D", "size": 1, "logicalType": "decimal", "precision": 4, "scale": 0},
         pa.decimal128(4, 0), Decimal(128), "128 does not fit 1 bytes"),
        ({"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}, pa.string(), "x", "'x' is not a UUID"),
        ("string", pa.string(), None, "NULL in a NOT NULL column"),
    ],
)  # fmt: skip
def test_values_that_a_given_schema_cannot_hold_are_refused(
    type_: Any, of: pa.DataType, value: Any, reason: str
) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}
    text = refusal(pa.schema([("a", of)]), {"a": value}, schema=json.dumps(schema))
    assert text == f"column a, row 0: {reason}"


def test_fields_that_no_column_has_are_null_and_slow_nothing_down() -> None:
    optional = [
        {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "bytes"}]},
        {"type": "map", "values": "double"},
        {"type": "array", "items": ["null", "string"]},
        {"type": "fixed", "name": "F", "size": 12},
        {"type": "enum", "name": "E", "symbols": ["A"]},
        *("boolean", "int", "float"),
    ]
    fields = [{"name": f"f{n}", "type": ["null", type_], "default": None} for n, type_ in enumerate(optional)]
    outer = {"type": "record", "name": "Outer", "fields": [{"name": "a", "type": "int"}, *fields]}
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "s", "type": outer},
            {"name": "a", "type": "int"},
            {"name": "z", "type": ["null", "Outer"], "default": None},
        ],
    }
    columns = pa.schema([("a", pa.int32()), ("s", pa.struct([("a", pa.int32())]))])
    rows = pa.RecordBatch.from_pylist([{"a": 1, "s": {"a": 2}}, {"a": 3, "s": {"a": 4}}], schema=columns)
    put = plan_write("avro", parse_schema(json.dumps(schema)), columns, legacy=True)
    fast = PyruhvroWriter(put).write(rows).to_pylist()
    assert fast == list(DatumWriter(put).write(rows).to_list())
    assert value_of(schema, fast[1]) == {"a": 3, "z": None, "s": {"a": 4} | {f"f{n}": None for n in range(8)}}


def test_changes_are_refused() -> None:
    rows = pa.RecordBatch.from_pylist([{"a": 1}], schema=pa.schema([("a", pa.int32())]))
    with pytest.raises(MessageError, match="format avro writes insertions"):
        AvroFormat().encoder(rows.schema).encode(rows, pa.array(["-D"]))
