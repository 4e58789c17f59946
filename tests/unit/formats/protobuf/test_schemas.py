"""Schemas that a message type does not have, and in which words they are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.errors import SchemaError
from millrace_formats.protobuf import ProtobufFormat
from unit.formats.protobuf.message_files import add_field, add_map, file_of, format_of


@pytest.fixture(scope="module")
def format_() -> ProtobufFormat:
    file = file_of()
    message = file.message_type.add(name="M")
    for number, kind in enumerate(("int32", "uint32", "uint64", "string", ".t.E", ".t.N"), 1):
        add_field(message, kind.rpartition(".")[2], number, kind)
    add_field(message, "list", 10, "int64", repeated=True)
    add_map(message, "map", 11, "string", ".t.N")
    add_field(message, "at", 12, ".google.protobuf.Timestamp")
    add_field(message, "wrapped", 13, ".google.protobuf.UInt32Value")
    add_field(file.message_type.add(name="N"), "name", 1, "string")
    return format_of(file)


INNER = pa.struct([("name", pa.string())])


@pytest.mark.parametrize(
    ("name", "type_", "message"),
    [
        ("int32", pa.int64(), "column int32 is BIGINT, but field t.M.int32 is int32: use INT"),
        ("uint32", pa.int16(), "column uint32 is SMALLINT, but field t.M.uint32 is uint32: use BIGINT or INT"),
        ("uint64", pa.decimal128(38, 0), "is DECIMAL(38,0), but field t.M.uint64 is uint64: use DECIMAL(20,0) or"),
        ("string", pa.binary(), "column string is BINARY, but field t.M.string is string: use STRING"),
        ("E", pa.int8(), "column E is TINYINT, but field t.M.E is t.E: use STRING or INT or BIGINT"),
        ("N", pa.string(), "column N is STRING, but field t.M.N is t.N: use STRUCT<...> with fields of t.N"),
        ("N", pa.struct([("nmae", pa.string())]), "column N.nmae has no field in message t.N; did you mean 'name'?"),
        ("N", pa.struct([("x", pa.string())]), "column N.x has no field in message t.N; it has name"),
        ("N", pa.struct([("name", pa.string())] * 2), "column N has two fields named 'name'"),
        ("list", pa.int64(), "column list is BIGINT, but field t.M.list is repeated int64: use ARRAY<BIGINT>"),
        ("list", pa.list_(pa.int32()), "column list.element is INT, but field t.M.list is repeated int64: use"),
        ("map", pa.list_(INNER), "is map<string, t.N>: use MAP<STRING, STRUCT<...> with fields of t.N>"),
        ("map", pa.map_(pa.int32(), INNER), "column map is MAP<INT, STRUCT<name: STRING>>, but field t.M.map is map<"),
        ("map", pa.map_(pa.string(), pa.int32()), "column map.value is INT, but field t.M.MapEntry.value is t.N: use"),
        ("at", pa.timestamp("us"), "column at is TIMESTAMP_NTZ, but field t.M.at is google.protobuf.Timestamp: "),
        ("at", pa.duration("us"), "column at is INTERVAL (duration[us]), but field t.M.at is google"),
        ("wrapped", pa.string(), "use BIGINT or INT or STRUCT<value: BIGINT or INT>"),
        ("strnig", pa.string(), "column strnig has no field in message t.M; did you mean 'string'?"),
    ],
)  # fmt: skip
def test_refused_columns(format_: ProtobufFormat, name: str, type_: pa.DataType, message: str) -> None:
    for make in (format_.decoder, format_.encoder):
        with pytest.raises(SchemaError) as caught:
            make(pa.schema([("string", pa.string()), (name, type_)] if name != "string" else [(name, type_)]))
        assert str(caught.value).startswith("format protobuf does not support this schema: ")
        assert message in str(caught.value)


def test_all_refused_columns_are_named_at_once(format_: ProtobufFormat) -> None:
    with pytest.raises(SchemaError) as caught:
        format_.decoder(pa.schema([("int32", pa.int64()), ("list", pa.int64()), ("string", pa.string())]))
    assert "column int32 is" in str(caught.value)
    assert "column list is" in str(caught.value)
    assert "column string" not in str(caught.value)


def test_a_schema_without_columns_is_refused(format_: ProtobufFormat) -> None:
    with pytest.raises(SchemaError, match="needs at least one column"):
        format_.decoder(pa.schema([]))


def test_the_columns_of_a_message_are_those_that_hold_all_its_values(format_: ProtobufFormat) -> None:
    schema = format_.default_schema()
    assert schema is not None
    assert dict(zip(schema.names, schema.types, strict=True)) == {
        "int32": pa.int32(),
        "uint32": pa.int64(),
        "uint64": pa.decimal128(20, 0),
        "string": pa.string(),
        "E": pa.string(),
        "N": INNER,
        "list": pa.list_(pa.field("element", pa.int64(), False)),
        "map": pa.map_(pa.string(), pa.field("value", INNER, False)),
        "at": pa.timestamp("us", "UTC"),
        "wrapped": pa.int64(),
    }
    assert format_.decoder(schema)
    assert format_.encoder(schema)
