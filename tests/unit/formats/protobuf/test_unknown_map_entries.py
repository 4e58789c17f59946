"""Entries of maps with unknown fields: an error on both paths, since libraries read them in different ways."""

from __future__ import annotations

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from millrace.contracts import Decoded, Payloads
from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from millrace_formats.protobuf.reader.decoder import ProtobufDecoder
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.protobuf.message_files import add_field, add_map, facts, file_of, format_of

MAP = pa.map_(pa.int32(), pa.float64())
PLAIN = b"\x12\x02\x08\x05"
# The key 18, and a field 1 of another wire type
ODD = b"\x12\x0d\x08\x00\x08\x12\x09\x09\x00\x00\x00\x00\x00\x00\x00"
REASON = "an entry of a map holds a field that is neither key nor value"


def decoded(file: FileDescriptorProto, schema: pa.Schema, payloads: list[bytes | None]) -> Decoded:
    """Decode messages by both readers, and check that they agree."""
    format_ = format_of(file)
    decoder = ProtobufDecoder(schema, load_message_class(format_.options.descriptor_set), format_.options)
    fast = decoder.decode(Payloads(payloads))
    assert facts(fast) == facts(FallbackDecoder(schema, None, decoder._exact).decode(Payloads(payloads)))
    return fast


def with_map() -> FileDescriptorProto:
    file = file_of()
    add_map(file.message_type.add(name="M"), "m", 2, "int32", "double")
    return file


def test_such_an_entry_is_an_error_of_its_message_alone() -> None:
    found = decoded(with_map(), pa.schema([("m", MAP)]), [PLAIN, ODD, PLAIN + PLAIN])
    assert found.rows.to_pylist() == [{"m": [(5, 0.0)]}] * 2
    assert [(error.index, error.reason) for error in found.errors] == [(1, REASON)]


def test_a_number_where_the_value_is_a_message_makes_such_an_entry() -> None:
    file = file_of()
    add_field(file.message_type.add(name="Inner"), "id", 1, "int32")
    add_map(file.message_type.add(name="M"), "m", 2, "int32", ".t.Inner")
    schema = pa.schema([("m", pa.map_(pa.int32(), pa.struct([("id", pa.int32())])))])
    found = decoded(file, schema, [b"\x12\x04\x08\x00\x10\x01"])
    assert [(error.index, error.reason) for error in found.errors] == [(0, REASON)]


@pytest.mark.parametrize("repeated", [False, True])
def test_it_is_found_in_a_message_within(repeated: bool) -> None:
    file = with_map()
    outer = file.message_type.add(name="Outer")
    add_field(outer, "inner", 1, ".t.M", repeated=repeated)
    format_ = format_of(file, "t.Outer")
    inner = pa.struct([("m", MAP)])
    schema = pa.schema([("inner", pa.list_(inner) if repeated else inner)])
    decoder = ProtobufDecoder(schema, load_message_class(format_.options.descriptor_set), format_.options)
    payloads = [b"\x0a" + bytes([len(held)]) + held for held in (PLAIN, ODD)]
    found = decoder.decode(Payloads(payloads))
    assert [(error.index, error.reason) for error in found.errors] == [(1, REASON)]
