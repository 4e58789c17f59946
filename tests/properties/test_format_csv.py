"""Properties of the csv format: what is written is read, and both readers agree, whatever the bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.testing.format import check_decoded
from millrace_formats.csv import CsvFormat, CsvOptions
from millrace_formats.csv.decoder import CsvDecoder
from millrace_formats.csv.exact_reader import CsvExactReader
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.arrow_rows import batches, scalar_types

NULL = "NULL\u2400"  # a text that no generated value is
DIALECTS = st.sampled_from(
    [
        {},
        {"escape_character": "\\"},
        {"allow_comments": True},
        {"field_delimiter": "\\t", "quote_character": "'"},
        {"field_delimiter": "§", "array_element_delimiter": "<>"},
        {"disable_quote_character": True, "escape_character": "\\"},
        {"field_delimiter": "1"},
    ]
)
OPTIONS = st.builds(
    lambda dialect, ignore, null: CsvOptions(**dialect, ignore_parse_errors=ignore, null_literal=null),
    DIALECTS,
    st.booleans(),
    st.sampled_from([None, "", "null", "x"]),
)
FIELDS = st.sampled_from(
    [
        "", "x", " ", "7", "-7", " +7 ", "128", "32768", "2147483648", "9223372036854775808", "1.5", "1e2", "1E-400",
        "0x10",
        "NaN", "nan", "inf", "Infinity", "1d", "1e400", "16777217", "0.005", "1e-39", "12345678901234567890.5",
        "9" * 60,
        "true", "TRUE ", "trueA", "null", "2024-02-29", "2024-2-9", "2023-02-30", "0000-01-01", "12:30", "12:30:01.5",
        "2024-05-01 12:34:56", "2024-05-01 12:34:56.5Z", "2024-05-01 12:34:56+02:00", "2024-05-01T12:34:56",
        "2024-03-31 02:30:00", "2024-02-30 00:00:00", "YQ==", "YQ", "1;2", ";", "x;null", "1;x;3", "ü", "\x00",
        '"x"', '"a""b"', '"a,b"', '"a\nb"', '"a" ', ' "a"', '"a"b', '"', 'a"b', "\\", "\\,", "\\n", "#", "\r", "\n",
        "'x'", "§", "\t", "<>", '""', '"7"', '"1;2"',
    ]
)  # fmt: skip
CSV_TYPES = st.sampled_from(scalar_types()).flatmap(
    lambda type_: st.sampled_from(
        [
            type_,
            type_,
            pa.list_(type_),
            pa.list_(pa.field("x", type_, nullable=False)),
            pa.struct([("a", type_), pa.field("b", pa.string(), nullable=False)]),
        ]
    )
)


@st.composite
def schemas_with_messages(draw: st.DrawFn) -> tuple[pa.Schema, list[bytes | None], CsvOptions]:
    options = draw(OPTIONS)
    fields = [pa.field(name, draw(CSV_TYPES), draw(st.booleans())) for name in "abc"[: draw(st.integers(1, 3))]]
    width = st.sampled_from([len(fields)] * 8 + [len(fields) + 1, max(1, len(fields) - 1)])
    line = width.flatmap(lambda n: st.lists(FIELDS, min_size=n, max_size=n)).map(options.delimiter.join)
    end = st.sampled_from([""] * 12 + ["\n", "\r\n", "\n\n", "\nx", "#", options.delimiter])
    start = st.sampled_from([""] * 12 + ["\ufeff", "#c\n", "\n", " "])
    message = st.tuples(start, line, end).map("".join).map(str.encode)
    odd = st.sampled_from([None, b"", b"\n", b"\xff", b"\xff,1,", b'"', b'"\n"'])
    return (
        pa.schema(fields),
        draw(st.lists(st.one_of(*[message] * 6, odd, st.binary(max_size=9)), max_size=12)),
        options,
    )


def facts(decoded: Any) -> tuple[Any, ...]:
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    return repr(decoded.rows.to_pylist()), index, decoded.errors


@given(schemas_with_messages())
def test_all_paths_agree_on_any_mix_of_messages(case: tuple[pa.Schema, list[bytes | None], CsvOptions]) -> None:
    schema, messages, options = case
    fast = CsvDecoder(schema, options).decode(Payloads(messages))
    check_decoded(fast, schema, len(messages))
    exact = FallbackDecoder(schema, None, CsvExactReader(schema, options)).decode(Payloads(messages))
    assert facts(fast) == facts(exact)


@pytest.mark.parametrize("type_", scalar_types(), ids=str)
@given(data=st.data())
def test_all_paths_agree_on_every_scalar_type(type_: pa.DataType, data: st.DataObject) -> None:
    schema = pa.schema([("a", pa.string()), ("b", type_)])
    lines = [f"{data.draw(FIELDS)},{text}".encode() for text in data.draw(st.lists(FIELDS, min_size=1, max_size=9))]
    options = CsvOptions(ignore_parse_errors=data.draw(st.booleans()))
    fast = CsvDecoder(schema, options).decode(Payloads(lines))
    exact = FallbackDecoder(schema, None, CsvExactReader(schema, options)).decode(Payloads(lines))
    assert facts(fast) == facts(exact)


@given(batches(st.sampled_from(scalar_types())), DIALECTS)
def test_what_is_written_is_read(rows: pa.RecordBatch, dialect: dict[str, Any]) -> None:
    format_ = CsvFormat(CsvOptions(**dialect, null_literal=NULL))
    decoded = format_.decoder(rows.schema).decode(format_.encoder(rows.schema).encode(rows))
    # a line that is empty gives no row: one column of an empty text
    kept = [row for row in rows.to_pylist() if list(row.values()) not in ([""], [b""])]
    assert not decoded.errors
    assert repr(decoded.rows.to_pylist()) == repr(kept)


@given(batches(st.sampled_from([pa.list_(type_) for type_ in scalar_types() if type_ != pa.string()])))
def test_arrays_are_read_as_they_are_written(rows: pa.RecordBatch) -> None:
    format_ = CsvFormat(CsvOptions(null_literal=NULL))
    decoded = format_.decoder(rows.schema).decode(format_.encoder(rows.schema).encode(rows))
    for written, read in zip(_with_message(rows), _by_message(decoded, rows.num_rows), strict=True):
        assert repr(written) == repr(read)


def _with_message(rows: pa.RecordBatch) -> list[Any]:
    """Return the rows that are read: NULL arrays are arrays of one NULL, and empty lines no rows."""
    result: list[Any] = []
    for row in rows.to_pylist():
        if list(row.values()) in ([[]], [[b""]]):
            result.append(None)
            continue
        result.append(
            {name: [None] if value is None else [] if value == [b""] else value for name, value in row.items()}
        )
    return result


def _by_message(decoded: Any, count: int) -> list[Any]:
    index = range(count) if decoded.message_index is None else decoded.message_index.to_pylist()
    assert not decoded.errors
    found = dict(zip(index, decoded.rows.to_pylist(), strict=True))
    return [found.get(i) for i in range(count)]
