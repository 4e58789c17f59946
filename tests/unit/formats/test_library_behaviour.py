"""Behaviour of other libraries, beyond their documentation, that fast paths rely on: fails first when it changes."""

from __future__ import annotations

import io
import re
from operator import length_hint

import msgspec
import pyarrow as pa
import pytest
from arro3.io import write_ndjson
from google.protobuf.unknown_fields import UnknownFieldSet

from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from millrace_formats.protobuf.ptars.handler import is_refusal
from millrace_formats.shared.column_casts import _value_in_error
from unit.formats.protobuf.message_files import add_field, add_map, file_of, format_of


class Row(msgspec.Struct):
    a: int


def test_arrow_quotes_the_value_that_it_cannot_parse_in_its_error() -> None:
    values = pa.array(["1", "it's", None])
    with pytest.raises(pa.ArrowInvalid) as raised:
        values.cast(pa.int64())
    mask = _value_in_error(str(raised.value), values)
    assert mask is not None
    assert mask.to_pylist() == [False, True, None]


def test_extend_keeps_the_items_before_an_error_and_an_iterator_has_the_length_of_the_others() -> None:
    decode, results = msgspec.json.Decoder(Row).decode, []
    pending = iter([b'{"a":1}', b"{", b'{"a":2}'])
    with pytest.raises(msgspec.DecodeError):
        results.extend(map(decode, pending))
    assert (results, length_hint(pending)) == ([Row(1)], 1)


def test_msgspec_does_not_check_the_utf8_of_fields_that_it_skips() -> None:
    assert msgspec.json.decode(b'{"a":1,"b":"\xff"}', type=Row) == Row(1)
    # The second one before msgspec 0.23
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        msgspec.json.decode(b'"\xff"', type=str)


def test_arro3_writes_a_line_a_row_and_escapes_control_characters() -> None:
    rows = pa.record_batch({"a": ["\x011.5", "x\ny"], "b": [float("nan"), 1e20]})
    out = io.BytesIO()
    write_ndjson(rows, out, explicit_nulls=True)
    assert out.getvalue() == b'{"a":"\\u00011.5","b":null}\n{"a":"x\\ny","b":1.0e20}\n'


def test_protobuf_clears_a_message_before_it_parses_into_it_and_gives_broken_text_as_bytes() -> None:
    file = file_of(syntax="proto2")
    add_field(file.message_type.add(name="M"), "text", 1, "string")
    message = load_message_class(format_of(file).options.descriptor_set).FromString(b"\x0a\x01\xff")
    assert message.text == b"\xff"
    message.ParseFromString(b"")
    assert not message.HasField("text")


def test_protobuf_keeps_a_map_entry_with_an_unknown_field_as_an_unknown_field_of_the_message() -> None:
    file = file_of()
    add_map(file.message_type.add(name="M"), "m", 2, "int32", "double")
    message_class = load_message_class(format_of(file).options.descriptor_set)
    message = message_class.FromString(b"\x12\x0d\x08\x00\x08\x12\x09\x09\x00\x00\x00\x00\x00\x00\x00")
    assert [field.field_number for field in UnknownFieldSet(message)] == [2]


def test_ptars_refuses_what_is_no_message_by_a_value_error() -> None:
    ptars = pytest.importorskip("ptars")
    file = file_of()
    add_field(file.message_type.add(name="M"), "id", 1, "int32")
    descriptor = load_message_class(format_of(file).options.descriptor_set).DESCRIPTOR
    handler = ptars.HandlerPool([descriptor.file]).get_for_message(descriptor)
    with pytest.raises(ValueError, match=re.escape("failed to decode")) as raised:
        handler.list_to_record_batch([b"\xff"])
    assert is_refusal(raised.value)


def test_a_panic_of_rust_is_a_refusal_and_an_interrupt_is_none() -> None:
    panic = type("PanicException", (BaseException,), {})
    assert is_refusal(panic("index out of bounds"))
    assert not is_refusal(KeyboardInterrupt())
