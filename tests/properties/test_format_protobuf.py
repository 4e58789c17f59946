"""Properties of the protobuf format: what is written is read, and both paths of each side agree, whatever the bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from millrace.contracts import Decoded, Payloads
from millrace.testing.format import check_decoded
from millrace_formats.protobuf import ProtobufFormat, ProtobufOptions
from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from millrace_formats.protobuf.reader.decoder import ProtobufDecoder
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.protobuf import strategies
from unit.formats.protobuf.message_files import facts, format_of


@st.composite
def cases(draw: st.DrawFn) -> tuple[pa.Schema, Any, ProtobufOptions, list[bytes | None]]:
    """A schema, the class of its messages, options, and payloads."""
    file = draw(strategies.files())
    format_ = format_of(file, read_default_values=draw(st.booleans()), ignore_parse_errors=draw(st.integers(0, 3)) == 0)
    message_class = load_message_class(format_.options.descriptor_set)
    schema = draw(strategies.schemas(message_class.DESCRIPTOR))
    assume(len(schema))
    payloads = draw(st.lists(strategies.payloads(message_class), min_size=1, max_size=10))
    return schema, message_class, format_.options, payloads


@st.composite
def rows_to_write(draw: st.DrawFn) -> tuple[ProtobufFormat, pa.RecordBatch]:
    """A format, and rows that it reads as it writes them."""
    format_ = format_of(draw(strategies.files()))
    message = load_message_class(format_.options.descriptor_set).DESCRIPTOR
    schema = draw(strategies.schemas(message, to_write=True))
    assume(len(schema))
    return format_, draw(strategies.rows_of(schema, message))


@given(cases())
def test_both_readers_agree_on_any_mix_of_messages(case: Any) -> None:
    schema, message_class, options, payloads = case
    decoder = ProtobufDecoder(schema, message_class, options)
    fast = decoder.decode(Payloads(payloads))
    check_decoded(fast, schema, len(payloads))
    fast.rows.validate(full=True)
    exact = FallbackDecoder(schema, None, decoder._exact).decode(Payloads(payloads))
    assert facts(fast) == facts(exact)


@given(cases())
def test_a_message_reads_the_same_alone_and_among_others(case: Any) -> None:
    schema, message_class, options, payloads = case
    decoder = ProtobufDecoder(schema, message_class, options)
    together = decoder.decode(Payloads(payloads))
    found = range(len(payloads)) if together.message_index is None else together.message_index.to_pylist()
    rows = dict(zip(found, together.rows.to_pylist(), strict=True))
    reasons = {error.index: error.reason for error in together.errors}
    for index, payload in enumerate(payloads):
        alone = decoder.decode(Payloads([payload]))
        assert repr(alone.rows.to_pylist()) == repr([rows[index]] if index in rows else [])
        assert [error.reason for error in alone.errors] == ([reasons[index]] if index in reasons else [])


@given(rows_to_write())
def test_what_is_written_is_read(case: tuple[ProtobufFormat, pa.RecordBatch]) -> None:
    format_, rows = case
    decoded = format_.decoder(rows.schema).decode(format_.encoder(rows.schema).encode(rows))
    assert not decoded.errors
    assert facts(decoded) == facts(Decoded(rows))


@given(rows_to_write())
def test_both_writers_agree(case: tuple[ProtobufFormat, pa.RecordBatch]) -> None:
    format_, rows = case
    encoder, exact = format_.encoder(rows.schema), format_.encoder(rows.schema)
    exact._handler = None
    written, expected = list(encoder.encode(rows).to_list()), list(exact.encode(rows).to_list())
    message_class = load_message_class(format_.options.descriptor_set)
    parsed = [message_class.FromString(payload).SerializeToString(deterministic=True) for payload in written]
    assert parsed == expected


@given(rows_to_write())
def test_slices_are_written_as_their_rows(case: tuple[ProtobufFormat, pa.RecordBatch]) -> None:
    format_, rows = case
    encoder = format_.encoder(rows.schema)
    whole = list(encoder.encode(rows).to_list())
    for start in range(rows.num_rows):
        assert list(encoder.encode(rows.slice(start, 2)).to_list()) == whole[start : start + 2]
