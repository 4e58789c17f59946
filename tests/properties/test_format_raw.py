"""Properties of the raw format: what is written is read, and a message reads the same alone and among others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.testing.format import check_decoded
from millrace_formats.raw import RawFormat, RawOptions
from unit.formats.arrow_rows import values

TYPES = [
    pa.binary(), pa.string(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(),
]  # fmt: skip
OPTIONS = st.builds(
    RawOptions,
    charset=st.sampled_from(["UTF-8", "UTF-16", "UTF-16LE", "UTF-32", "ISO-8859-1", "GBK", "Shift_JIS"]),
    endianness=st.sampled_from(["big-endian", "little-endian"]),
)
UNICODE = ("utf-8", "utf-16", "utf-16le", "utf-32")


@pytest.mark.parametrize("type_", TYPES, ids=str)
@given(st.lists(st.none() | st.binary(max_size=9), max_size=12), OPTIONS, st.booleans())
def test_a_message_reads_the_same_alone_and_among_others(
    type_: pa.DataType, messages: list[bytes | None], options: RawOptions, nullable: bool
) -> None:
    schema = pa.schema([pa.field("value", type_, nullable)])
    decoder = RawFormat(options).decoder(schema)
    together = decoder.decode(Payloads(messages))
    check_decoded(together, schema, len(messages))
    rows, errors = [], []
    for index, message in enumerate(messages):
        alone = decoder.decode(Payloads([message]))
        rows += alone.rows.to_pylist()
        errors += [(index, error.reason) for error in alone.errors]
    assert repr(together.rows.to_pylist()) == repr(rows)
    assert [(error.index, error.reason) for error in together.errors] == errors


@pytest.mark.parametrize("type_", TYPES, ids=str)
@given(data=st.data(), options=OPTIONS)
def test_what_is_written_is_read(type_: pa.DataType, data: st.DataObject, options: RawOptions) -> None:
    if type_ == pa.string() and options.charset.lower() not in UNICODE:
        value = st.none() | st.text(st.characters(codec="ascii"))
    else:
        value = values(type_)
    schema = pa.schema([("value", type_)])
    rows = pa.record_batch([pa.array(data.draw(st.lists(value, max_size=9)), type_)], schema=schema)
    format_ = RawFormat(options)
    decoded = format_.decoder(schema).decode(format_.encoder(schema).encode(rows))
    assert not decoded.errors
    assert repr(decoded.rows.to_pylist()) == repr(rows.to_pylist())
