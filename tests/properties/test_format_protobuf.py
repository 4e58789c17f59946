"""Properties of the protobuf format: what is written is read, and both paths of each side agree, whatever the bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from millrace.contracts import Decoded, Payloads
from millrace.testing.format import check_decoded
from millrace_formats.protobuf import ProtobufFormat, ProtobufOptions
from millrace_formats.protobuf.decoder import ProtobufDecoder
from millrace_formats.protobuf.message_type import message_type
from millrace_formats.two_paths import TwoPathDecoder
from unit.formats import proto_types


@st.composite
def cases(draw: st.DrawFn) -> tuple[pa.Schema, Any, ProtobufOptions, list[bytes | None]]:
    """A schema, the class of its messages, options, and payloads."""
    file = draw(proto_types.files())
    format_ = proto_types.format_of(
        file, read_default_values=draw(st.booleans()), ignore_parse_errors=draw(st.integers(0, 3)) == 0
    )
    message_class = message_type(format_.options.descriptor_set)
    schema = draw(proto_types.schemas(message_class.DESCRIPTOR))
    assume(len(schema))
    payloads = draw(st.lists(proto_types.payloads(message_class), min_size=1, max_size=10))
    return schema, message_class, format_.options, payloads


def facts(decoded: Decoded) -> tuple[Any, ...]:
    """What was decoded, but for the order of maps, which has no meaning."""
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    rows = [sorted_maps(row, pa.struct(list(decoded.rows.schema))) for row in decoded.rows.to_pylist()]
    return repr(rows), index, decoded.errors


def sorted_maps(value: Any, type_: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_map(type_):
        return sorted((key, repr(sorted_maps(item, type_.item_type))) for key, item in value)
    if pa.types.is_list(type_):
        return [sorted_maps(item, type_.value_type) for item in value]
    if pa.types.is_struct(type_):
        return {field.name: sorted_maps(value[field.name], field.type) for field in type_}
    return value


@given(cases())
def test_both_readers_agree_on_any_mix_of_messages(case: Any) -> None:
    schema, message_class, options, payloads = case
    decoder = ProtobufDecoder(schema, message_class, options)
    fast = decoder.decode(Payloads(payloads))
    check_decoded(fast, schema, len(payloads))
    fast.rows.validate(full=True)
    exact = TwoPathDecoder(schema, None, decoder._exact).decode(Payloads(payloads))
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
