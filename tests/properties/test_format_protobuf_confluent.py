"""Properties of protobuf behind a registry: what is written is read, by this and by later versions of a schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.errors import MalformedMessageError
from millrace.testing.format import check_decoded
from millrace_formats.protobuf.registry.derivation import derive_file, extend_file, imports_of
from millrace_formats.protobuf.registry.frame import message_frame, message_path, split_message
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.protobuf.registry.projection import ProjectingDecoder
from millrace_formats.protobuf.registry.proto_text import proto_text
from millrace_formats.protobuf.registry.schemas import ProtobufSchema
from millrace_formats.protobuf.writer.encoder import ProtobufEncoder
from millrace_formats.registry.framed_decoder import FramedDecoder

FEW = settings(max_examples=settings.default.max_examples // 4)
OPTIONS = ProtobufRegistryOptions(url="http://localhost")
NAMES = ["a", "b", "c_d", "e1", "f"]
SCALARS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.decimal128(20, 0): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=5),
    pa.binary(): st.binary(max_size=5),
}


def wrapped(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    """Draw an array or a map."""
    return st.one_of(
        inner.map(lambda type_: pa.list_(pa.field("element", type_, False))),
        inner.map(lambda type_: pa.map_(pa.string(), pa.field("value", type_, False))),
    )


def structs(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    """Draw a struct of fields, arrays and maps."""
    fields = st.tuples(st.sampled_from(NAMES), inner | wrapped(inner))
    return st.lists(fields, min_size=1, max_size=3, unique_by=lambda field: field[0]).map(pa.struct)


TYPES = st.recursive(st.sampled_from(list(SCALARS)), structs, max_leaves=4)


def values_of(type_: pa.DataType) -> st.SearchStrategy[Any]:
    """Draw values, none of them null at the top."""
    if pa.types.is_struct(type_):
        return st.fixed_dictionaries({field.name: nullable(field.type) for field in type_})
    if pa.types.is_list(type_):
        return st.lists(values_of(type_.value_type), min_size=1, max_size=3)
    if pa.types.is_map(type_):
        values = st.tuples(st.text(max_size=3), values_of(type_.item_type))
        return st.lists(values, min_size=1, max_size=3, unique_by=lambda entry: entry[0])
    return SCALARS[type_]


def nullable(type_: pa.DataType) -> st.SearchStrategy[Any]:
    return st.none() | values_of(type_)


SCHEMAS = st.lists(
    st.tuples(st.sampled_from(NAMES), TYPES | wrapped(TYPES)), min_size=1, max_size=4, unique_by=lambda field: field[0]
).map(pa.schema)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    """Draw rows of drawn columns."""
    schema = draw(SCHEMAS)
    row = st.fixed_dictionaries({field.name: nullable(field.type) for field in schema})
    return pa.RecordBatch.from_pylist(draw(st.lists(row, min_size=1, max_size=4)), schema=schema)


def comparable(value: Any) -> Any:
    """Sort the entries of maps, whose order protobuf does not keep."""
    if isinstance(value, dict):
        return {name: comparable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        items = [comparable(inner) for inner in value]
        return sorted(items, key=repr) if items and isinstance(items[0], tuple) else items
    return tuple(map(comparable, value)) if isinstance(value, tuple) else value


def file_schema(file: Any) -> ProtobufSchema:
    return ProtobufSchema((*imports_of(file), file))


@given(batches())
def test_rows_are_read_as_they_were_written(rows: pa.RecordBatch) -> None:
    message_class = file_schema(derive_file(list(rows.schema))).message_class((0,))
    messages = ProtobufEncoder(rows.schema, message_class, OPTIONS).encode(rows)
    decoded = ProjectingDecoder(rows.schema, message_class, OPTIONS).decode(messages)
    assert not decoded.errors
    assert comparable(decoded.rows.to_pylist()) == comparable(rows.to_pylist())


@FEW
@given(batches(), st.data())
def test_an_extended_schema_reads_what_was_written_before(rows: pa.RecordBatch, data: st.DataObject) -> None:
    first = file_schema(derive_file(list(rows.schema)))
    messages = ProtobufEncoder(rows.schema, first.message_class((0,)), OPTIONS).encode(rows)
    new = pa.field("new", data.draw(TYPES))
    place = data.draw(st.integers(0, len(rows.schema)))
    wider = rows.schema.insert(place, new)
    file = extend_file(first, (0,), list(wider))
    assert file is not None
    extended = file_schema(file)
    assert extend_file(extended, (0,), list(wider)) is None
    for message_class in (extended.message_class((0,)), first.message_class((0,))):
        decoded = ProjectingDecoder(wider, message_class, OPTIONS).decode(messages)
        assert not decoded.errors
        expected = [{**row, "new": None} for row in rows.to_pylist()]
        assert comparable(decoded.rows.to_pylist()) == comparable(expected)


@settings(max_examples=10)
@given(SCHEMAS)
def test_a_derived_file_is_its_text(schema: pa.Schema) -> None:
    file = derive_file(list(schema))
    assert proto_text(file, imports_of(file)).text


@given(st.integers(0, 2**31 - 1), st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5), st.binary(max_size=5))
def test_a_frame_is_read_as_it_was_written(schema_id: int, path: list[int], body: bytes) -> None:
    frame = message_frame(schema_id, path)
    assert split_message(frame + body) == (frame, body)
    assert list(message_path(frame)) == path


@given(batches(), st.lists(st.none() | st.binary(max_size=20) | st.binary(max_size=9).map(b"\0\0\0\0\1\0".__add__)))
def test_hostile_bytes_raise_nothing_and_shift_no_row(rows: pa.RecordBatch, hostile: list[bytes | None]) -> None:
    schema = file_schema(derive_file(list(rows.schema)))

    def decoder_for(frame: bytes) -> ProjectingDecoder:
        if frame[:5] != b"\0\0\0\0\1":
            raise MalformedMessageError("no such schema")
        try:
            return ProjectingDecoder(rows.schema, schema.message_class(message_path(frame)), OPTIONS)
        except ValueError as error:
            raise MalformedMessageError(str(error)) from None

    frame = message_frame(1, [0])
    good = ProtobufEncoder(rows.schema, schema.message_class((0,)), OPTIONS).encode(rows).to_list()
    messages = [*hostile, *(frame + message for message in good if message is not None)]
    decoded = FramedDecoder(rows.schema, split_message, decoder_for, "").decode(Payloads(messages))
    check_decoded(decoded, rows.schema, len(messages))
    assert comparable(decoded.rows.to_pylist()[-len(good) :]) == comparable(rows.to_pylist())
