"""What rows become in Avro, and which cannot be written."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError, SchemaError
from millrace_formats.avro import AvroFormat, AvroOptions
from millrace_formats.avro.schema.derivation import derive_record, render_schema
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.avro.writer.encoder import BatchWriter, DatumWriter
from millrace_formats.avro.writer.write_plan import plan_write
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import encoded

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
FINE = dt.datetime(2024, 5, 1, 12, 0, 0, 250_001)


def derived(schema: pa.Schema, *, legacy: bool = True) -> Any:
    return json.loads(render_schema(derive_record(list(schema), legacy)))


def field_type(field: pa.Field, *, legacy: bool = True) -> Any:
    (found,) = derived(pa.schema([field]), legacy=legacy)["fields"]
    return found["type"]


def encode(columns: pa.Schema, *rows: dict[str, Any], **options: Any) -> list[bytes | None]:
    batch = pa.RecordBatch.from_pylist(list(rows), schema=columns)
    return list(AvroFormat(AvroOptions(**options)).encoder(columns).encode(batch).to_list())


def refusal(columns: pa.Schema, *rows: dict[str, Any], **options: Any) -> str:
    with pytest.raises(MessageError) as caught:
        encode(columns, *rows, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (pa.bool_(), "boolean"),
        (pa.int8(), "int"),
        (pa.int16(), "int"),
        (pa.int32(), "int"),
        (pa.int64(), "long"),
        (pa.float32(), "float"),
        (pa.float64(), "double"),
        (pa.string(), "string"),
        (pa.binary(), "bytes"),
        (pa.date32(), {"type": "int", "logicalType": "date"}),
        (pa.time64("us"), {"type": "int", "logicalType": "time-millis"}),
        (pa.decimal128(38, 18), {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18}),
        (pa.list_(pa.int32()), {"type": "array", "items": ["null", "int"]}),
        (pa.map_(pa.string(), pa.field("value", pa.int32(), False)), {"type": "map", "values": "int"}),
    ],
)
def test_types_are_those_of_the_reference(of: pa.DataType, expected: Any) -> None:
    assert field_type(pa.field("a", of, False)) == expected
    assert field_type(pa.field("a", of)) == ["null", expected]


def test_both_mappings_of_timestamps() -> None:
    found = {
        (of, legacy): field_type(pa.field("a", of, False), legacy=legacy)["logicalType"]
        for of in (NTZ, UTC)
        for legacy in (True, False)
    }
    assert found == {
        (NTZ, True): "timestamp-millis",
        (UTC, True): "timestamp-millis",
        (NTZ, False): "local-timestamp-micros",
        (UTC, False): "timestamp-micros",
    }


def test_records_are_named_after_their_path() -> None:
    inner = pa.struct([pa.field("b", pa.struct([("c", pa.int32())]), False)])
    schema = pa.schema([pa.field("a", inner), pa.field("l", pa.list_(inner), False), pa.field("a_b", inner, False)])
    assert names(derived(schema)) == [
        "record", "record_a", "record_a_b", "record_l", "record_l_b", "record_a_b_", "record_a_b__b",
    ]  # fmt: skip


def names(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for part in schema for name in names(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema["name"]] if schema.get("type") == "record" else []
    return own + [name for key in ("fields", "items", "type") for name in names(schema.get(key))]


def test_nullable_columns_have_null_as_their_default() -> None:
    nullable, needed = derived(pa.schema([("a", pa.int32()), pa.field("b", pa.int32(), False)]))["fields"]
    assert nullable == {"name": "a", "type": ["null", "int"], "default": None}
    assert needed == {"name": "b", "type": "int"}


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        ({"a": UTC}, {"a": FINE.replace(tzinfo=dt.UTC)},
         "column a, row 0: 2024-05-01 12:00:00.250001+00:00 has microseconds, which timestamp-millis has not"),
        ({"a": pa.time64("us")}, {"a": dt.time(1, 2, 3, 4)},
         "column a, row 0: 01:02:03.000004 has microseconds, which time-millis has not"),
        ({"a": pa.struct([("b", pa.list_(NTZ))])}, {"a": {"b": [None, FINE]}},
         "column a, row 0: field b: 2024-05-01 12:00:00.250001 has microseconds, which timestamp-millis has not"),
    ],
)  # fmt: skip
def test_what_the_schema_cannot_hold_is_refused(columns: Any, row: Any, reason: str) -> None:
    schema = pa.schema(list(columns.items()))
    assert refusal(schema, row) == reason


def test_nulls_where_none_may_be_are_refused() -> None:
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


def test_the_json_encoding_is_avros() -> None:
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
def test_a_given_schema_is_written_by(type_: Any, of: pa.DataType, value: Any) -> None:
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
        ({"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}, pa.string(), "x", "'x' is no UUID"),
        ("string", pa.string(), None, "NULL in a NOT NULL column"),
    ],
)  # fmt: skip
def test_values_that_a_given_schema_cannot_hold(type_: Any, of: pa.DataType, value: Any, reason: str) -> None:
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
    fast = BatchWriter(put).write(rows).to_pylist()
    assert fast == list(DatumWriter(put).write(rows).to_list())
    assert value_of(schema, fast[1]) == {"a": 3, "z": None, "s": {"a": 4} | {f"f{n}": None for n in range(8)}}


def test_changes_are_refused() -> None:
    rows = pa.RecordBatch.from_pylist([{"a": 1}], schema=pa.schema([("a", pa.int32())]))
    with pytest.raises(MessageError, match="format avro writes insertions"):
        AvroFormat().encoder(rows.schema).encode(rows, pa.array(["-D"]))


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (pa.field("a b", pa.int32()), "column a b has a name that Avro has not: letters, digits and _ alone"),
        (pa.field("a", pa.struct([("1", pa.int32())])), "column a.1 has a name that Avro has not"),
        (pa.field("a", pa.struct([])), "column a is STRUCT<>, which has no fields"),
        (pa.field("a", pa.map_(pa.int32(), pa.int32())), "column a is MAP<INT, INT>, whose keys are not STRING"),
        (pa.field("a", pa.list_(pa.map_(pa.date32(), pa.int32()))), "column a.element is MAP<DATE, INT>"),
        (pa.field("a", pa.duration("us")), "column a has the type INTERVAL (duration[us]), which is not supported"),
    ],
)
def test_columns_that_avro_cannot_have(field: pa.Field, problem: str) -> None:
    for make in (AvroFormat().decoder, AvroFormat().encoder):
        with pytest.raises(SchemaError) as caught:
            make(pa.schema([field]))
        assert problem in str(caught.value)
