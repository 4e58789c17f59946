"""Proto files derived from columns, and latest files extended by columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.errors import SchemaError
from millrace_formats.protobuf.registry.derivation import check_columns, derive_file, extend_file, imports_of
from millrace_formats.protobuf.registry.schemas import ProtobufSchema, parse_schema
from millrace_formats.registry.schema_registry import SchemaText

INNER = pa.struct([("sku", pa.string()), pa.field("count", pa.int32(), False)])


def derived(*columns: pa.Field) -> ProtobufSchema:
    file = derive_file(columns)
    return ProtobufSchema((*imports_of(file), file))


def numbers(schema: ProtobufSchema, *path: int) -> dict[str, int]:
    return {field.name: field.number for field in schema.message_class(path or (0,)).DESCRIPTOR.fields}


def test_columns_are_numbered_in_order_and_nullable_ones_have_presence() -> None:
    schema = derived(
        pa.field("id", pa.int64(), False),
        pa.field("name", pa.string()),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("lines", pa.list_(INNER)),
        pa.field("by_sku", pa.map_(pa.string(), INNER)),
    )
    assert numbers(schema) == {"id": 1, "name": 2, "at": 3, "lines": 4, "by_sku": 5}
    fields = schema.message_class((0,)).DESCRIPTOR.fields_by_name
    assert not fields["id"].has_presence
    assert fields["name"].has_presence
    assert fields["at"].message_type.full_name == "google.protobuf.Timestamp"
    assert fields["lines"].message_type.full_name == "Record.Lines"
    assert fields["by_sku"].message_type.fields_by_name["value"].message_type.full_name == "Record.BySku"


def test_a_latest_file_keeps_its_fields_and_numbers() -> None:
    text = """syntax = "proto3"; package shop;
    message Order { reserved 4, 7 to 9; string old = 3; Line one = 2; map<string, Line> named = 1; }
    message Line { string sku = 5; }"""
    latest = parse_schema(SchemaText(text))
    line = pa.struct([("new", pa.int32()), ("sku", pa.string())])
    columns = [pa.field("first", pa.int32()), pa.field("named", pa.map_(pa.string(), line)), pa.field("one", INNER)]
    file = extend_file(latest, (0,), columns)
    assert file is not None
    extended = ProtobufSchema((*latest.files[:-1], file))
    assert numbers(extended) == {"named": 1, "one": 2, "old": 3, "first": 10}
    assert numbers(extended, 1) == {"sku": 5, "new": 6, "count": 7}
    assert extend_file(extended, (0,), columns) is None
    assert extend_file(extended, (0,), columns[:1]) is None


def test_numbers_that_protobuf_keeps_for_itself_are_left_out() -> None:
    latest = parse_schema(SchemaText('syntax = "proto3"; message A { int32 a = 18999; }'))
    file = extend_file(latest, (0,), [pa.field("b", pa.int32())])
    assert file is not None
    assert numbers(ProtobufSchema((file,))) == {"a": 18_999, "b": 20_000}


@pytest.mark.parametrize(
    ("type_", "problem"),
    [
        (pa.int8(), "column a is TINYINT, which protobuf has no type for: cast it to INT"),
        (pa.date32(), "column a is DATE, which protobuf has no type for: cast it to STRING"),
        (pa.timestamp("us"), "column a is TIMESTAMP_NTZ, which protobuf has no type for: cast it to TIMESTAMP"),
        (pa.decimal128(10, 2), "cast it to STRING"),
        (pa.list_(pa.list_(pa.int32())), r"within an ARRAY or MAP: put it into a STRUCT"),
        (pa.map_(pa.float64(), pa.int32()), "keys must be STRING, INT, BIGINT or BOOLEAN"),
        (pa.struct([("b c", pa.int32())]), r"column a\.b c has a name that is not valid in protobuf"),
        (pa.struct([]), "has no fields"),
    ],
)
def test_columns_that_protobuf_has_no_type_for_are_refused(type_: pa.DataType, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        check_columns("protobuf-confluent", pa.schema([("a", type_)]))
