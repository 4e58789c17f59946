"""The standard formats keep the contract of formats."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from millrace.contracts import Format
from millrace.testing import FormatSuite
from millrace_formats.csv import CsvFormat, CsvOptions
from millrace_formats.json import JsonFormat, JsonOptions
from millrace_formats.raw import RawFormat, RawOptions
from unit.formats.conformance_rows import NULLS, SCALAR_ROWS, SCALARS, NestedRows


class TestJson(NestedRows, FormatSuite):
    bad = (b"{", b"[1]", b"7", b'{"int":1}{"int":2}', b'{"int":"x"}', b'{"list":[{"int":{}}]}', b'{"x":"\xff"}')

    def make_format(self) -> Format:
        return JsonFormat()


class TestJsonIso(TestJson):
    def make_format(self) -> Format:
        return JsonFormat(JsonOptions(timestamp_format="ISO-8601", decimal_as_plain_number=True))


class TestJsonWithoutNulls(TestJson):
    def make_format(self) -> Format:
        return JsonFormat(JsonOptions(ignore_null_fields=True))


class TestJsonOfNames(FormatSuite):
    """Names that a class cannot have, and ones that need the exact reader."""

    bad = (b"nul",)

    def make_format(self) -> Format:
        return JsonFormat()

    def schema(self) -> pa.Schema:
        return pa.schema([("class", pa.int32()), ("A b", pa.int32()), ("a b", pa.int32()), ('q"', pa.int32())])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([[1, 2], [3, None], [None, 4], [5, 6]], schema=self.schema())


class TestCsv(FormatSuite):
    bad = (b"x", b'"', b"\xff" + b"," * 15, b"," * 20)
    schema_fields = (
        *SCALARS,
        pa.field("array", pa.list_(pa.int32())),
        pa.field("struct", pa.struct([("a", pa.string()), ("b", pa.date32())])),
    )

    def make_format(self) -> Format:
        return CsvFormat(CsvOptions(null_literal="NULL"))

    def schema(self) -> pa.Schema:
        return pa.schema(self.schema_fields, metadata=SCALARS.metadata)

    def rows(self) -> pa.RecordBatch:
        first, second = SCALAR_ROWS
        rows = [
            first | {"array": [1, None, 3], "struct": {"a": "x y", "b": date(2024, 1, 2)}},
            second | {"array": [], "struct": {"a": None, "b": None}},
            NULLS | {"array": [4], "struct": None},
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


class TestCsvWithTabsAndEscapes(TestCsv):
    bad = (b"x", b"\\", b"\xff" + b"\t" * 15)

    def make_format(self) -> Format:
        return CsvFormat(
            CsvOptions(field_delimiter="\\t", disable_quote_character=True, escape_character="\\", null_literal="NULL")
        )


class TestCsvOfPlainLines(FormatSuite):
    bad = (b"a,1,2,3", b"a", b"a,x,1", b'"a,1,2', b"a,1,2\nb,1,2", b"a,0x1,2")

    def make_format(self) -> Format:
        return CsvFormat()

    def schema(self) -> pa.Schema:
        return pa.schema([("text", pa.string()), ("a", pa.int64()), ("b", pa.float64())])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([["x", "", "ü"], [1, 2, 3], [0.5, 1e7, -1e-9]], schema=self.schema())


class RawSuite(FormatSuite):
    """Tests common to all types that raw supports."""

    null_gives_a_row = True
    type: pa.DataType
    values: tuple[object, ...]
    options = RawOptions()

    def make_format(self) -> Format:
        return RawFormat(self.options)

    def schema(self) -> pa.Schema:
        return pa.schema([("value", self.type)])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([pa.array(self.values, self.type)], schema=self.schema())


class TestRawBinary(RawSuite):
    empty_gives_a_row = True
    type, values = pa.binary(), (b"x", None, b"\x00\xff", b"")


class TestRawString(RawSuite):
    empty_gives_a_row = True
    type, values = pa.string(), ("x", None, "ü😀", "")


class TestRawLatin(RawSuite):
    empty_gives_a_row = True
    options = RawOptions(charset="ISO-8859-1")
    type, values = pa.string(), ("x", None, "ü", "")


class TestRawBoolean(RawSuite):
    bad = (b"", b"ab")
    type, values = pa.bool_(), (True, None, False)


class TestRawTinyint(RawSuite):
    bad = (b"", b"ab")
    type, values = pa.int8(), (-128, None, 127)


class TestRawSmallint(RawSuite):
    bad = (b"", b"a")
    type, values = pa.int16(), (-(2**15), None, 2**15 - 1)


class TestRawInt(RawSuite):
    bad = (b"", b"abc")
    type, values = pa.int32(), (-(2**31), None, 2**31 - 1)


class TestRawBigint(RawSuite):
    bad = (b"", b"abcd", b"123456789")
    type, values = pa.int64(), (-(2**63), None, 2**63 - 1)


class TestRawFloat(RawSuite):
    bad = (b"", b"12345678")
    options = RawOptions(endianness="little-endian")
    type, values = pa.float32(), (0.5, None, float("-inf"))


class TestRawDouble(RawSuite):
    bad = (b"", b"1234")
    options = RawOptions(endianness="little-endian")
    type, values = pa.float64(), (1e300, None, -0.0)
