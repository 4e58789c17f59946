"""Values of protobuf fields in columns, by whichever reader."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from millrace.contracts import Decoded, Payloads
from millrace_formats.protobuf import ProtobufFormat
from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.protobuf.message_files import add_field, add_map, facts, file_of, format_of

INSTANT = pa.timestamp("us", "UTC")


def one_field(kind: str, *, syntax: str = "proto3", optional: bool = False, **more: Any) -> FileDescriptorProto:
    """A file whose message type has one field ``a``."""
    file = file_of(syntax=syntax)
    message = file.message_type.add(name="M")
    field = add_field(message, "a", 1, kind, **more)
    if optional:
        field.proto3_optional, field.oneof_index = True, 0
        message.oneof_decl.add(name="_a")
    return file


def new(format_: ProtobufFormat, **fields: Any) -> Any:
    """A message of a format's type."""
    return load_message_class(format_.options.descriptor_set)(**fields)


def decode(format_: ProtobufFormat, schema: pa.Schema, *messages: Any) -> Decoded:
    """Decode messages, or bytes, and check that both readers agree."""
    payloads = [m if isinstance(m, bytes | None) else m.SerializePartialToString() for m in messages]
    decoder: Any = format_.decoder(schema)
    decoded = decoder.decode(Payloads(payloads))
    exact = FallbackDecoder(schema, None, decoder._exact).decode(Payloads(payloads))
    assert facts(decoded) == facts(exact)
    return decoded


def read(format_: ProtobufFormat, type_: pa.DataType, *messages: Any, nullable: bool = True) -> list[Any]:
    """Return the values of column ``a`` of messages."""
    decoded = decode(format_, pa.schema([pa.field("a", type_, nullable)]), *messages)
    assert not decoded.errors
    return decoded.rows.column(0).to_pylist()


def reasons(decoded: Decoded) -> list[str]:
    return [error.reason for error in decoded.errors]


@pytest.mark.parametrize(
    ("kind", "type_", "values"),
    [
        ("bool", pa.bool_(), [True, False]),
        ("int32", pa.int32(), [-(2**31), 2**31 - 1]),
        ("sint32", pa.int32(), [-(2**31), 2**31 - 1]),
        ("sfixed32", pa.int32(), [-(2**31), 2**31 - 1]),
        ("int64", pa.int64(), [-(2**63), 2**63 - 1]),
        ("sint64", pa.int64(), [-(2**63), 2**63 - 1]),
        ("sfixed64", pa.int64(), [-(2**63), 2**63 - 1]),
        ("uint32", pa.int64(), [0, 2**32 - 1]),
        ("fixed32", pa.int64(), [0, 2**32 - 1]),
        ("uint64", pa.decimal128(20, 0), [Decimal(0), Decimal(2**64 - 1)]),
        ("fixed64", pa.decimal128(20, 0), [Decimal(0), Decimal(2**64 - 1)]),
        ("float", pa.float32(), [0.5, float("-inf")]),
        ("double", pa.float64(), [1e300, -0.0]),
        ("string", pa.string(), ["", "ü😀\n"]),
        ("bytes", pa.binary(), [b"", b"\x00\xff"]),
    ],
)
def test_scalars(kind: str, type_: pa.DataType, values: list[Any]) -> None:
    plain, repeated = format_of(one_field(kind)), format_of(one_field(kind, repeated=True))
    raw = [int(value) if isinstance(value, Decimal) else value for value in values]
    assert repr(read(plain, type_, *(new(plain, a=value) for value in raw))) == repr(values)
    assert repr(read(repeated, pa.list_(type_), new(repeated, a=raw))) == repr([values])


@pytest.mark.parametrize(("kind", "bits"), [("uint32", 32), ("fixed32", 32), ("uint64", 64), ("fixed64", 64)])
def test_unsigned_numbers_keep_their_bits_in_a_column_of_as_many(kind: str, bits: int) -> None:
    format_ = format_of(one_field(kind))
    messages = [new(format_, a=number) for number in (1, 2**bits - 1, 2 ** (bits - 1))]
    assert read(format_, pa.int32() if bits == 32 else pa.int64(), *messages) == [1, -1, -(2 ** (bits - 1))]


def test_enums_are_names_or_numbers() -> None:
    format_ = format_of(one_field(".t.E"))
    messages = [new(format_, a=number) for number in (0, 1, -1, 2**31 - 1)]
    assert read(format_, pa.string(), *messages) == ["ZERO", "ONE", "MINUS", "BIG"]
    assert read(format_, pa.int32(), *messages) == read(format_, pa.int64(), *messages) == [0, 1, -1, 2**31 - 1]


def test_numbers_that_an_open_enum_has_no_name_for_are_unrecognized() -> None:
    format_ = format_of(one_field(".t.E"))
    assert read(format_, pa.string(), new(format_, a=1), new(format_, a=7)) == ["ONE", "UNRECOGNIZED"]
    assert read(format_, pa.int32(), new(format_, a=7)) == [7]


def test_a_closed_enum_lacks_numbers_that_it_has_no_name_for() -> None:
    format_ = format_of(one_field(".t.E", syntax="proto2"))
    assert read(format_, pa.string(), b"\x08\x01", b"\x08\x07", b"\x08\x01\x08\x07") == ["ONE", None, "ONE"]
    assert read(format_, pa.int32(), b"\x08\x07") == [None]
    repeated = format_of(one_field(".t.E", syntax="proto2", repeated=True))
    assert read(repeated, pa.list_(pa.string()), b"\x08\x01\x08\x07\x08\x00") == [["ONE", "ZERO"]]


def test_fields_without_presence_are_read_as_their_defaults() -> None:
    for kind, type_, default in (("int32", pa.int32(), 0), ("string", pa.string(), ""), (".t.E", pa.string(), "ZERO")):
        assert read(format_of(one_field(kind)), type_, b"") == [default]


@pytest.mark.parametrize("file", [one_field("int32", optional=True), one_field("int32", syntax="proto2")])
def test_fields_with_presence_are_null_when_they_are_absent(file: FileDescriptorProto) -> None:
    format_ = format_of(file)
    assert read(format_, pa.int32(), b"", new(format_, a=0), new(format_, a=5)) == [None, 0, 5]
    defaults = format_of(file, read_default_values=True)
    assert read(defaults, pa.int32(), b"", new(format_, a=5)) == [0, 5]


def test_defaults_are_the_ones_that_the_field_declares() -> None:
    file = one_field("int32", syntax="proto2")
    file.message_type[0].field[0].default_value = "42"
    assert read(format_of(file), pa.int32(), b"") == [None]
    assert read(format_of(file, read_default_values=True), pa.int32(), b"", b"\x08\x00") == [42, 0]


def test_repeated_fields_and_maps_without_elements_are_null_but_in_not_null_columns() -> None:
    file = one_field("int32", repeated=True)
    add_map(file.message_type[0], "m", 2, "string", "int32")
    array, entries = pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())
    for options, nullable, expected in (({}, True, None), ({}, False, []), ({"read_default_values": True}, True, [])):
        schema = pa.schema([pa.field("a", array, nullable), pa.field("m", entries, nullable)])
        assert decode(format_of(file, **options), schema, b"").rows.to_pylist() == [{"a": expected, "m": expected}]


def test_nested_messages() -> None:
    file = one_field(".t.N")
    inner = file.message_type.add(name="N")
    add_field(inner, "x", 1, "int32")
    add_field(inner, "again", 2, ".t.N")
    format_ = format_of(file)
    type_ = pa.struct([("again", pa.struct([("x", pa.int32())])), ("x", pa.int32())])
    messages = [b"", new(format_, a={}), new(format_, a={"x": 1, "again": {"x": 2, "again": {"x": 3}}})]
    found = read(format_, type_, *messages)
    assert found == [None, {"again": None, "x": 0}, {"again": {"x": 2}, "x": 1}]
    defaults = format_of(file, read_default_values=True)
    assert read(defaults, type_, b"") == [{"again": {"x": 0}, "x": 0}]


def test_a_message_that_comes_twice_is_merged() -> None:
    file = one_field(".t.N")
    inner = file.message_type.add(name="N")
    add_field(inner, "x", 1, "int32")
    add_field(inner, "y", 2, "int32")
    add_field(inner, "l", 3, "int32", repeated=True)
    add_field(file.message_type[0], "t", 2, ".google.protobuf.Timestamp")
    add_field(file.message_type[0], "w", 3, ".google.protobuf.Int32Value")
    format_ = format_of(file)
    one = new(format_, a={"x": 1, "l": [1]}, t={"seconds": 1}, w={"value": 5})
    two = new(format_, a={"y": 2, "l": [2]}, t={"nanos": 2000}, w={})
    schema = pa.schema(
        [
            ("a", pa.struct([("x", pa.int32()), ("y", pa.int32()), ("l", pa.list_(pa.int32()))])),
            ("t", INSTANT),
            ("w", pa.int32()),
        ]
    )
    decoded = decode(format_, schema, one.SerializeToString() + two.SerializeToString())
    instant = datetime(1970, 1, 1, 0, 0, 1, 2, tzinfo=UTC)
    assert decoded.rows.to_pylist() == [{"a": {"x": 1, "y": 2, "l": [1, 2]}, "t": instant, "w": 5}]


def test_maps() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    add_field(file.message_type.add(name="N"), "x", 1, "int32")
    add_map(message, "texts", 1, "int32", "string")
    add_map(message, "messages", 2, "string", ".t.N")
    add_map(message, "enums", 3, "bool", ".t.E")
    format_ = format_of(file)
    schema = pa.schema(
        [
            ("texts", pa.map_(pa.int32(), pa.string())),
            ("messages", pa.map_(pa.string(), pa.struct([("x", pa.int32())]))),
            ("enums", pa.map_(pa.bool_(), pa.string())),
        ]
    )
    full = new(format_, texts={-1: "a"}, messages={"k": {"x": 5}, "": {}}, enums={True: 1})
    (row,) = decode(format_, schema, full).rows.to_pylist()
    assert row["texts"] == [(-1, "a")]
    assert sorted(row["messages"]) == [("", {"x": 0}), ("k", {"x": 5})]
    assert row["enums"] == [(True, "ONE")]


def test_of_a_key_that_comes_twice_the_last_value_counts() -> None:
    file = file_of()
    add_map(file.message_type.add(name="M"), "a", 1, "int32", "int32")
    twice = b"\x0a\x04\x08\x01\x10\x02" + b"\x0a\x04\x08\x01\x10\x03"
    assert read(format_of(file), pa.map_(pa.int32(), pa.int32()), twice, b"\x0a\x00") == [[(1, 3)], [(0, 0)]]


def test_of_a_oneof_only_the_last_member_is_not_null() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    message.oneof_decl.add(name="choice")
    for number, (name, kind) in enumerate([("a", "int32"), ("b", "string"), ("c", ".t.N")], 1):
        add_field(message, name, number, kind).oneof_index = 0
    add_field(file.message_type.add(name="N"), "x", 1, "int32")
    format_ = format_of(file)
    a, b, c = (new(format_, **{name: value}).SerializeToString() for name, value in (("a", 0), ("b", "x"), ("c", {})))
    schema = pa.schema([("a", pa.int32()), ("b", pa.string()), ("c", pa.struct([("x", pa.int32())]))])
    nothing = dict.fromkeys("abc")
    assert decode(format_, schema, b"", a, b + a, a + b, a + c).rows.to_pylist() == [
        nothing,
        nothing | {"a": 0},
        nothing | {"a": 0},
        nothing | {"b": "x"},
        nothing | {"c": {"x": 0}},
    ]
    # also by members that have no column
    assert read(format_, pa.int32(), a, a + b, a + c, b + a) == [0, None, None, 0]


def test_timestamps() -> None:
    format_ = format_of(one_field(".google.protobuf.Timestamp"))
    messages = [
        new(format_, a={"seconds": 1_700_000_000, "nanos": 123_456_789}),
        new(format_, a={"seconds": -1, "nanos": 999_999_999}),
        new(format_, a={"seconds": -62_135_596_800}),
        new(format_, a={"seconds": 253_402_300_799, "nanos": 999_999_999}),
        b"",
    ]
    assert read(format_, INSTANT, *messages) == [
        datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        None,
    ]
    parts = pa.struct([("seconds", pa.int64()), ("nanos", pa.int32())])
    assert read(format_, parts, messages[1], b"") == [{"seconds": -1, "nanos": 999_999_999}, None]


def test_timestamps_that_are_none_are_errors() -> None:
    format_ = format_of(one_field(".google.protobuf.Timestamp"))
    messages = [new(format_, a=a) for a in ({"seconds": 2**62}, {"nanos": -1}, {"nanos": 10**9})]
    decoded = decode(format_, pa.schema([("a", INSTANT)]), messages[0], b"", *messages[1:])
    assert reasons(decoded) == [
        "field a: a timestamp outside the years 0001 to 9999",
        "field a: a timestamp whose nanos are -1, expected 0 to 999999999",
        "field a: a timestamp whose nanos are 1000000000, expected 0 to 999999999",
    ]
    assert decoded.message_index.to_pylist() == [1]


def test_wrappers() -> None:
    format_ = format_of(one_field(".google.protobuf.StringValue"))
    messages = [b"", new(format_, a={}), new(format_, a={"value": "x"})]
    assert read(format_, pa.string(), *messages) == [None, "", "x"]
    assert read(format_, pa.struct([("value", pa.string())]), *messages) == [None, {"value": ""}, {"value": "x"}]
    assert read(format_of(one_field(".google.protobuf.StringValue"), read_default_values=True), pa.string(), b"") == [
        ""
    ]
    repeated = format_of(one_field(".google.protobuf.UInt64Value", repeated=True))
    message = new(repeated, a=[{"value": 2**64 - 1}, {}])
    assert read(repeated, pa.list_(pa.decimal128(20, 0)), message) == [[Decimal(2**64 - 1), Decimal(0)]]


def test_groups_take_the_exact_path() -> None:
    file = file_of(syntax="proto2")
    message = file.message_type.add(name="M")
    add_field(message.nested_type.add(name="G"), "x", 1, "int32")
    field = add_field(message, "a", 1, ".t.M.G")
    field.type = field.TYPE_GROUP
    format_ = format_of(file)
    assert read(format_, pa.struct([("x", pa.int32())]), new(format_, a={"x": 5}), b"") == [{"x": 5}, None]


def test_large_field_numbers_take_the_exact_path() -> None:
    file = file_of()
    add_field(file.message_type.add(name="M"), "a", 2**29 - 1, "int32")
    format_ = format_of(file)
    assert read(format_, pa.int32(), new(format_, a=5)) == [5]


def test_editions_are_read() -> None:
    file = file_of(syntax="proto2")
    file.syntax, file.edition = "editions", 1000
    message = file.message_type.add(name="M")
    add_field(message, "a", 1, "int32")
    implicit = add_field(message, "b", 2, "int32")
    implicit.options.features.field_presence = 2
    format_ = format_of(file)
    schema = pa.schema([("a", pa.int32()), ("b", pa.int32())])
    assert decode(format_, schema, b"").rows.to_pylist() == [{"a": None, "b": 0}]


def test_text_that_is_not_utf8() -> None:
    bad = b"\x0a\x02a\xff"
    proto3 = decode(format_of(one_field("string")), pa.schema([("a", pa.string())]), bad)
    (reason,) = reasons(proto3)
    assert reason.startswith("Error parsing message with type 't.M'")
    proto2 = format_of(one_field("string", syntax="proto2"))
    assert read(proto2, pa.string(), bad, b"\x0a\x01b") == ["a�", "b"]


def test_required_fields_must_be_there() -> None:
    file = one_field("int32", syntax="proto2")
    file.message_type[0].field[0].label = 2
    add_field(file.message_type[0], "b", 2, "int32")
    decoded = decode(format_of(file), pa.schema([("b", pa.int32())]), b"\x10\x01", b"\x08\x01\x10\x01")
    assert reasons(decoded) == ["required fields are missing: a"]
    assert decoded.rows.to_pylist() == [{"b": 1}]


def test_a_null_in_a_not_null_column_is_an_error_also_when_errors_are_ignored() -> None:
    file = one_field(".t.N")
    add_field(file.message_type.add(name="N"), "x", 1, "int32").proto3_optional = True
    file.message_type[1].field[0].oneof_index = 0
    file.message_type[1].oneof_decl.add(name="_x")
    type_ = pa.struct([pa.field("x", pa.int32(), False)])
    for options in ({}, {"ignore_parse_errors": True}):
        format_ = format_of(file, **options)
        outer = decode(format_, pa.schema([pa.field("a", type_, False)]), b"", new(format_, a={"x": 1}))
        assert reasons(outer) == ["field a: NULL in a NOT NULL column"]
        inner = decode(format_, pa.schema([("a", type_)]), b"", new(format_, a={}), new(format_, a={"x": 1}))
        assert reasons(inner) == ["field a.x: NULL in a NOT NULL column"]
        assert inner.rows.to_pylist() == [{"a": None}, {"a": {"x": 1}}]


def test_ignored_errors_give_no_row() -> None:
    format_ = format_of(one_field("int32"), ignore_parse_errors=True)
    decoded = decode(format_, pa.schema([("a", pa.int32())]), b"\x08\x01", b"\xff", b"\x08\x02", None)
    assert not decoded.errors
    assert decoded.rows.column(0).to_pylist() == [1, 2]
    assert decoded.message_index.to_pylist() == [0, 2]


def test_errors_name_the_field_within_arrays_and_maps() -> None:
    file = one_field(".google.protobuf.Timestamp", repeated=True)
    add_map(file.message_type[0], "m", 2, "string", ".google.protobuf.Timestamp")
    format_ = format_of(file)
    schema = pa.schema([("a", pa.list_(INSTANT)), ("m", pa.map_(pa.string(), INSTANT))])
    decoded = decode(
        format_, schema, new(format_, a=[{}, {"nanos": -1}]), new(format_, m={"k": {"nanos": -1}}), new(format_, a=[{}])
    )
    assert [reason.split(":")[0] for reason in reasons(decoded)] == ["field a[1]", "field m['k']"]
    assert decoded.rows.num_rows == 1
