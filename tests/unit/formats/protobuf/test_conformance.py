"""The protobuf format keeps the contract of formats."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from millrace.contracts import Format
from millrace.testing import FormatSuite
from unit.formats.protobuf.message_files import SCALARS, add_field, add_map, file_of, format_of

TYPES = {
    "double": pa.float64(), "float": pa.float32(), "int32": pa.int32(), "int64": pa.int64(), "uint32": pa.int64(),
    "uint64": pa.decimal128(20, 0), "sint32": pa.int32(), "sint64": pa.int64(), "fixed32": pa.int32(),
    "fixed64": pa.int64(), "sfixed32": pa.int32(), "sfixed64": pa.int64(), "bool": pa.bool_(), "string": pa.string(),
    "bytes": pa.binary(),
}  # fmt: skip
FIRST = {
    "double": 1e300, "float": 0.5, "int32": -(2**31), "int64": 2**63 - 1, "uint32": 2**32 - 1,
    "uint64": Decimal(2**64 - 1), "sint32": -1, "sint64": -(2**63), "fixed32": -1, "fixed64": -1, "sfixed32": 7,
    "sfixed64": 8, "bool": True, "string": "ü😀", "bytes": b"\x00\xff", "enum": "ONE",
    "at": datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC), "wrapped": "",
}  # fmt: skip
ZEROS = {
    "double": -0.0, "float": float("inf"), "int32": 0, "int64": 0, "uint32": 0, "uint64": Decimal(0), "sint32": 0,
    "sint64": 0, "fixed32": 0, "fixed64": 0, "sfixed32": 0, "sfixed64": 0, "bool": False, "string": "", "bytes": b"",
    "enum": "ZERO", "at": datetime(9999, 12, 31, tzinfo=UTC), "wrapped": "x",
}  # fmt: skip


def scalars() -> FileDescriptorProto:
    """A file with a message type ``N`` of all kinds of field that hold no other."""
    file = file_of(syntax="proto2")
    message = file.message_type.add(name="N")
    kinds = [*SCALARS, ".t.E", ".google.protobuf.Timestamp", ".google.protobuf.StringValue"]
    for number, (kind, name) in enumerate(zip(kinds, [*SCALARS, "enum", "at", "wrapped"], strict=True), 1):
        add_field(message, name, number, kind)
    return file


class TestProtobuf(FormatSuite):
    bad = (b"\xff", b"\x08", b"\x0a\x05ab", b"\x00", b"\xfa\xff\xff\xff\xff\xff\x01\x00")
    empty_gives_a_row = True

    def make_format(self) -> Format:
        file = scalars()
        message = file.message_type.add(name="M")
        add_field(message, "one", 1, ".t.N")
        add_field(message, "many", 2, ".t.N", repeated=True)
        add_map(message, "named", 3, "string", ".t.N")
        return format_of(file)

    def schema(self) -> pa.Schema:
        fields = [*TYPES.items(), ("enum", pa.string()), ("at", pa.timestamp("us", "UTC")), ("wrapped", pa.string())]
        inner = pa.struct(fields)
        return pa.schema(
            [("named", pa.map_(pa.string(), inner)), ("one", inner), ("many", pa.list_(inner))], metadata={"x": "y"}
        )

    def rows(self) -> pa.RecordBatch:
        nulls = dict.fromkeys(FIRST)
        rows = [
            {"one": FIRST, "many": [FIRST, ZEROS, nulls], "named": [("", FIRST), ("k", nulls)]},
            {"one": ZEROS, "many": None, "named": None},
            {"one": None, "many": [ZEROS], "named": [("k", ZEROS)]},
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


class TestProtobufWithoutPresence(FormatSuite):
    bad = (b"\xff",)
    empty_gives_a_row = True

    def make_format(self) -> Format:
        file = file_of()
        message = file.message_type.add(name="M")
        for number, kind in enumerate(SCALARS, 1):
            add_field(message, kind, number, kind)
        return format_of(file, read_default_values=True)

    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(kind, TYPES[kind], False) for kind in SCALARS])

    def rows(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pylist(
            [{kind: row[kind] for kind in SCALARS} for row in (FIRST, ZEROS)], self.schema()
        )


class TestProtobufOnTheExactPath(TestProtobufWithoutPresence):
    def make_format(self) -> Format:
        file = file_of()
        message = file.message_type.add(name="M")
        for number, kind in enumerate(SCALARS, 100_000):
            add_field(message, kind, number, kind)
        return format_of(file, read_default_values=True)
