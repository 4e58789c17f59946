"""Protobuf messages of rows, by whichever writer."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError, SchemaError
from millrace_formats.protobuf import ProtobufFormat
from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from unit.formats.protobuf.message_files import add_field, add_map, file_of, format_of

INSTANT = pa.timestamp("us", "UTC")


def encode(format_: ProtobufFormat, schema: pa.Schema, *rows: dict[str, Any]) -> list[Any]:
    """The messages that rows are written as; by both paths the same."""
    batch = pa.RecordBatch.from_pylist(list(rows), schema=schema)
    encoder: Any = format_.encoder(schema)
    written = list(encoder.encode(batch).to_list())
    encoder._handler = None
    message_class = load_message_class(format_.options.descriptor_set)
    parsed = [message_class.FromString(payload) for payload in written]
    exact = [message_class.FromString(payload) for payload in encoder.encode(batch).to_list()]
    assert [text(m) for m in parsed] == [text(m) for m in exact]
    return parsed


def text(message: Any) -> bytes:
    serialized: bytes = message.SerializeToString(deterministic=True)
    return serialized


def field_format(kind: str, *, syntax: str = "proto3", repeated: bool = False, **options: Any) -> ProtobufFormat:
    file = file_of(syntax=syntax)
    message = file.message_type.add(name="M")
    add_field(message, "a", 1, kind, repeated=repeated)
    add_field(file.message_type.add(name="N"), "x", 1, "int32")
    return format_of(file, **options)


def test_a_null_is_not_written() -> None:
    (message,) = encode(field_format("int32", syntax="proto2"), pa.schema([("a", pa.int32())]), {"a": None})
    assert not message.HasField("a")
    assert text(message) == b""


def test_a_zero_is_written_where_there_is_presence() -> None:
    schema = pa.schema([("a", pa.int32())])
    (message,) = encode(field_format("int32", syntax="proto2"), schema, {"a": 0})
    assert message.HasField("a")
    assert text(encode(field_format("int32"), schema, {"a": 0})[0]) == b""


def test_negative_zero_keeps_its_sign() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    add_field(message, "a", 1, "double")
    add_field(message, "w", 2, ".google.protobuf.FloatValue")
    add_map(message, "m", 3, "string", "double")
    schema = pa.schema([("a", pa.float64()), ("w", pa.float32()), ("m", pa.map_(pa.string(), pa.float64()))])
    (written, plain) = encode(
        format_of(file), schema, {"a": -0.0, "w": -0.0, "m": [("k", -0.0)]}, {"a": 0.0, "w": 0.0, "m": [("k", 0.0)]}
    )
    assert [math.copysign(1, number) for number in (written.a, written.w.value, written.m["k"])] == [-1, -1, -1]
    assert [math.copysign(1, number) for number in (plain.a, plain.w.value, plain.m["k"])] == [1, 1, 1]


def test_nulls_in_arrays_and_maps() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    types: dict[str, pa.DataType] = {
        "string": pa.string(), "int32": pa.int32(), "bytes": pa.binary(), "bool": pa.bool_(), ".t.E": pa.string(),
        ".t.N": pa.struct([("x", pa.int32())]), ".google.protobuf.Timestamp": INSTANT,
        ".google.protobuf.StringValue": pa.string(),
    }  # fmt: skip
    columns = []
    for number, (kind, type_) in enumerate(types.items(), 1):
        add_field(message, f"l{number}", number, kind, repeated=True)
        add_map(message, f"m{number}", number + 20, "string", kind)
        columns += [pa.field(f"l{number}", pa.list_(type_)), pa.field(f"m{number}", pa.map_(pa.string(), type_))]
    add_field(file.message_type.add(name="N"), "x", 1, "int32")
    row = {column.name: [("k", None)] if column.name.startswith("m") else [None] for column in columns}
    (written,) = encode(format_of(file, write_null_string_literal="none"), pa.schema(columns), row)
    singles = [*(getattr(written, f"l{number}")[0] for number in range(1, 9))]
    items = [*(getattr(written, f"m{number}")["k"] for number in range(1, 9))]
    assert singles[:5] == items[:5] == ["none", 0, b"", False, 0]
    assert [text(message) for message in singles[5:] + items[5:]] == [b""] * 6


def test_of_a_oneof_the_last_column_is_written() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    message.oneof_decl.add(name="choice")
    for number, (name, kind) in enumerate([("a", "int32"), ("b", "string"), ("c", ".t.N")], 1):
        add_field(message, name, number, kind).oneof_index = 0
    add_field(file.message_type.add(name="N"), "x", 1, "int32")
    schema = pa.schema([("c", pa.struct([("x", pa.int32())])), ("b", pa.string()), ("a", pa.int32())])
    written = encode(
        format_of(file),
        schema,
        {"a": 1, "b": "x", "c": None},
        {"a": None, "b": "x", "c": {"x": 1}},
        {"a": None, "b": None, "c": {"x": 1}},
        {"a": None, "b": None, "c": None},
    )
    assert [message.WhichOneof("choice") for message in written] == ["a", "b", "c", None]


def test_timestamps() -> None:
    written = encode(
        field_format(".google.protobuf.Timestamp"),
        pa.schema([("a", INSTANT)]),
        {"a": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)},
        {"a": datetime(9999, 12, 31, tzinfo=UTC)},
        {"a": None},
    )
    assert [(m.a.seconds, m.a.nanos) for m in written] == [(-1, 999_999_000), (253_402_214_400, 0), (0, 0)]
    assert [m.HasField("a") for m in written] == [True, True, False]


def test_unsigned_numbers() -> None:
    for kind, bits in (("uint32", 32), ("fixed32", 32), ("uint64", 64), ("fixed64", 64)):
        signed = pa.schema([("a", pa.int32() if bits == 32 else pa.int64())])
        (written,) = encode(field_format(kind), signed, {"a": -1})
        assert written.a == 2**bits - 1
        whole = pa.schema([("a", pa.int64() if bits == 32 else pa.decimal128(20, 0))])
        (written,) = encode(field_format(kind), whole, {"a": 2**bits - 1})
        assert written.a == 2**bits - 1


@pytest.mark.parametrize(
    ("kind", "type_", "value", "message"),
    [
        ("uint32", pa.int64(), 2**32, "column a, row 1: 4294967296 is beyond what field t.M.a holds"),
        ("uint32", pa.int64(), -1, "column a, row 1: -1 is beyond what field t.M.a holds"),
        ("uint64", pa.decimal128(20, 0), Decimal(2**64), "column a, row 1: 18446744073709551616 is beyond what field"),
        (".t.E", pa.string(), "TWO", "column a, row 1: 'TWO' is not a value of enum t.E, which has ZERO, ONE"),
        (".t.E", pa.int64(), 2**31, "column a, row 1: 2147483648 is beyond what field t.M.a holds"),
        (".google.protobuf.Timestamp", INSTANT, 2**62, "column a, row 1: 4611686018427387904 microseconds since 1970"),
        (".google.protobuf.UInt32Value", pa.int64(), -5, "column a, row 1: -5 is beyond what field google.protobuf"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_written(kind: str, type_: pa.DataType, value: Any, message: str) -> None:
    for repeated in (False, True):
        format_ = field_format(kind, repeated=repeated)
        values = pa.array([None, value, value], type_)
        column = pa.ListArray.from_arrays(pa.array([0, 0, 2], pa.int32()), values) if repeated else values
        schema = pa.schema([("a", column.type)])
        with pytest.raises(MessageError) as caught:
            format_.encoder(schema).encode(pa.record_batch([column], schema=schema))
        expected = message.replace("column a,", "column a.element,") if repeated else message
        assert str(caught.value).startswith(expected)


def test_numbers_of_a_closed_enum_must_be_known() -> None:
    schema = pa.schema([("a", pa.int32())])
    with pytest.raises(MessageError, match=r"^column a, row 0: 7 is not a number of the closed enum t\.E$"):
        encode(field_format(".t.E", syntax="proto2"), schema, {"a": 7})
    assert encode(field_format(".t.E"), schema, {"a": 7})[0].a == 7


def test_values_within_null_structs_do_not_matter() -> None:
    format_ = field_format(".t.N")
    inner = pa.array([1, 2], pa.int32())
    column = pa.StructArray.from_arrays([inner], names=["x"], mask=pa.array([True, False]))
    schema = pa.schema([("a", column.type)])
    written = list(format_.encoder(schema).encode(pa.record_batch([column], schema=schema)).to_list())
    assert written == [b"", b"\x0a\x02\x08\x02"]


def test_required_fields_need_columns_with_values() -> None:
    file = file_of(syntax="proto2")
    message = file.message_type.add(name="M")
    for number, name in enumerate(("a", "b", "c"), 1):
        add_field(message, name, number, "int32").label = 2 if name != "c" else 1
    add_field(message, "n", 4, ".t.N", repeated=True)
    add_field(file.message_type.add(name="N"), "x", 1, "int32").label = 2
    add_field(file.message_type[1], "y", 2, "int32")
    format_ = format_of(file)
    with pytest.raises(SchemaError, match=r"there is no column for a, b, which message t\.M requires$"):
        format_.encoder(pa.schema([("c", pa.int32())]))
    scalars = [("a", pa.int32()), ("b", pa.int32())]
    with pytest.raises(SchemaError, match=r"column n lacks x, which message t\.N requires$"):
        format_.encoder(pa.schema([*scalars, ("n", pa.list_(pa.struct([("y", pa.int32())])))]))
    schema = pa.schema([*scalars, ("n", pa.list_(pa.struct([("x", pa.int32())])))])
    with pytest.raises(MessageError, match=r"^column b, row 1: NULL is not for a field that is required$"):
        encode(format_, schema, {"a": 1, "b": 2, "n": []}, {"a": 1, "b": None, "n": []})
    for element in (None, {"x": None}):
        with pytest.raises(
            MessageError, match=r"^column n\.element\.x, row 0: NULL is not for a field that is required"
        ):
            encode(format_, schema, {"a": 1, "b": 2, "n": [{"x": 1}, element]})


def test_groups_take_the_exact_path() -> None:
    file = file_of(syntax="proto2")
    message = file.message_type.add(name="M")
    add_field(message.nested_type.add(name="G"), "x", 1, "int32")
    field = add_field(message, "a", 1, ".t.M.G")
    field.type = field.TYPE_GROUP
    (written,) = encode(format_of(file), pa.schema([("a", pa.struct([("x", pa.int32())]))]), {"a": {"x": 5}})
    assert written.a.x == 5


def test_changes_are_refused() -> None:
    schema = pa.schema([("a", pa.int32())])
    rows = pa.RecordBatch.from_pylist([{"a": 1}], schema=schema)
    with pytest.raises(MessageError, match="row 0 has the row kind -D: format protobuf writes insertions"):
        field_format("int32").encoder(schema).encode(rows, pa.array(["-D"]))
