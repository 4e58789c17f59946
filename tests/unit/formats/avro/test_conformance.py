"""The avro format keeps the contract of formats."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pyarrow as pa

from millrace.contracts import Format
from millrace.testing import FormatSuite
from millrace_formats.avro import AvroFormat, AvroOptions
from unit.formats.conformance_rows import NULLS, SCALAR_ROWS, NestedRows


def to_millis(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.replace(microsecond=value.microsecond // 1000 * 1000) if hasattr(value, "microsecond") else value
        for name, value in row.items()
    }


class TestAvro(NestedRows, FormatSuite):
    # A byte that is a branch of no union, a message that ends too soon, and a boolean that is none
    bad = (b"", b"\x04", b"\x02", b"\x02\x05")
    scalar_rows = tuple(map(to_millis, SCALAR_ROWS))
    options = AvroOptions()

    def make_format(self) -> Format:
        return AvroFormat(self.options)


class TestAvroJson(TestAvro):
    bad = (b"", b"{", b"[]", b"null", b"{}", b'{"boolean":true}', b"\xff")
    options = AvroOptions(encoding="json")


class TestAvroWithMicroseconds(TestAvro):
    options = AvroOptions(legacy_timestamps=False)

    def rows(self) -> pa.RecordBatch:
        first, second = SCALAR_ROWS
        first = first | {"time": dt.time(23, 59, 59, 999000)}
        rows = [first | {"list": [second], "map": [("k", first)], "struct": second}, NULLS]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


class TestAvroOfAGivenSchema(FormatSuite):
    """A schema that the fast reader does not take: a union of several types, and a fixed of an odd size."""

    bad = (b"", b"\x06", b"\x04\x02", b"\x00\x00")

    def make_format(self) -> Format:
        fields = [
            {"name": "a", "type": ["null", "string", {"type": "fixed", "name": "F", "size": 3}]},
            {"name": "b", "type": {"type": "enum", "name": "E", "symbols": ["X", "Y"]}},
            {"name": "unused", "type": ["null", "long"]},
        ]
        return AvroFormat(AvroOptions(schema=json.dumps({"type": "record", "name": "R", "fields": fields})))

    def schema(self) -> pa.Schema:
        return pa.schema([("b", pa.string()), ("a", pa.binary())])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([["X", "Y", "X"], [b"abc", None, b"\x00\xff\x00"]], schema=self.schema())


class TestAvroOfOneRecordOrNull(FormatSuite):
    bad = (b"", b"\x02", b"\x04\x02")

    def make_format(self) -> Format:
        record = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
        return AvroFormat(AvroOptions(schema=json.dumps(["null", record])))

    def schema(self) -> pa.Schema:
        return pa.schema([("a", pa.int64())])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([[1, -5, 0]], schema=self.schema())
