"""Hypothesis strategies for protobuf files, schemas of their columns, rows of these, messages and payloads."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.empty_pb2 import Empty
from hypothesis import strategies as st

from millrace_formats.protobuf.schema.types import TIMESTAMP, WRAPPERS, is_map, scalar_types
from unit.formats.arrow_rows import values
from unit.formats.protobuf.message_files import SCALARS, add_field, add_map, file_of, kind_number

_KEYS = [kind for kind in SCALARS if kind not in ("double", "float", "bytes")]
_NAMES = ["id", "class", "HasField", "fooBar", "foo_baz", "SetInParent", "DESCRIPTOR", "IsInitialized"]
_REPEATED, _REQUIRED = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.LABEL_REQUIRED
_UNPACKABLE = [kind_number("string"), kind_number("bytes"), FieldDescriptorProto.TYPE_MESSAGE]


@st.composite
def files(draw: st.DrawFn) -> FileDescriptorProto:
    """Files with a message type ``t.M``, whose fields are of any kind, and which may hold others and itself."""
    syntax = draw(st.sampled_from(["proto2", "proto3"]))
    file = file_of(syntax=syntax)
    for name in ("N", "M"):
        others = [".t.N"] if name == "M" else []
        _add_message(draw, file, name, syntax, [*others, f".t.{name}"])
    return file


def _add_message(draw: st.DrawFn, file: FileDescriptorProto, name: str, syntax: str, messages: list[str]) -> None:
    message = file.message_type.add(name=name)
    kinds = st.one_of(
        st.sampled_from([*SCALARS, ".t.E", ".t.E"]),
        st.sampled_from(messages),
        st.sampled_from([f".{TIMESTAMP}"] * 5 + [f".{wrapper}" for wrapper in sorted(WRAPPERS)]),
    )
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=5, unique=True))
    numbers = draw(st.lists(st.integers(1, 20), min_size=len(names), max_size=len(names), unique=True))
    if draw(st.booleans()):
        message.oneof_decl.add(name="choice")
    for field_name, number in zip(names, numbers, strict=True):
        if draw(st.integers(0, 4)) == 0:
            add_map(message, field_name, number, draw(st.sampled_from(_KEYS)), draw(kinds))
        elif draw(st.integers(0, 3)) == 0:
            made = add_field(message, field_name, number, draw(kinds), repeated=True)
            if made.type not in _UNPACKABLE:
                made.options.packed = draw(st.booleans())
        else:
            _vary(draw, add_field(message, field_name, number, draw(kinds)), message, syntax)
    _finish_oneofs(draw, message, syntax)


def _vary(draw: st.DrawFn, field: FieldDescriptorProto, message: DescriptorProto, syntax: str) -> None:
    """Make a field the member of a oneof, required, or one with a default."""
    if message.oneof_decl and draw(st.booleans()):
        field.oneof_index = 0
    elif syntax == "proto2" and field.type != FieldDescriptorProto.TYPE_MESSAGE:
        if draw(st.integers(0, 5)) == 0:
            field.label = _REQUIRED
        elif draw(st.booleans()):
            _set_default(field)


def _set_default(field: FieldDescriptorProto) -> None:
    if field.type == FieldDescriptorProto.TYPE_ENUM:
        field.default_value = "MINUS"
    elif field.type == FieldDescriptorProto.TYPE_BOOL:
        field.default_value = "true"
    else:
        field.default_value = "7"


def _finish_oneofs(draw: st.DrawFn, message: DescriptorProto, syntax: str) -> None:
    if message.oneof_decl and not any(field.HasField("oneof_index") for field in message.field):
        del message.oneof_decl[:]
    if syntax == "proto2":
        return
    for field in message.field:
        plain = field.label != _REPEATED and not field.HasField("oneof_index")
        if plain and field.type != FieldDescriptorProto.TYPE_MESSAGE and draw(st.booleans()):
            field.proto3_optional, field.oneof_index = True, len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")


@st.composite
def schemas(draw: st.DrawFn, message: Descriptor, *, to_write: bool = False) -> pa.Schema:
    """Schemas of columns of a message type.

    Args:
        draw: Hypothesis' own.
        message: The message type.
        to_write: Whether rows of them can be written: required fields have columns, and members of a oneof may be NULL.
    """
    return pa.schema(draw(_columns(message, 3, to_write)))


@st.composite
def _columns(draw: st.DrawFn, message: Descriptor, depth: int, to_write: bool) -> list[pa.Field]:
    needed = {field.name for field in message.fields if to_write and field.is_required}
    made = []
    for field in draw(st.permutations(list(message.fields))):
        if field.name not in needed and not draw(st.integers(0, 3)):
            continue
        type_ = draw(_types(field, depth, to_write))
        if type_ is not None:
            made.append(pa.field(field.name, type_, (to_write and bool(field.containing_oneof)) or draw(st.booleans())))
    return made


@st.composite
def _types(draw: st.DrawFn, proto: FieldDescriptor, depth: int, to_write: bool) -> pa.DataType | None:
    if is_map(proto):
        key, item = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        type_ = draw(_single_types(item, depth, to_write))
        return None if type_ is None else pa.map_(draw(_single_types(key, depth, to_write)), type_)
    type_ = draw(_single_types(proto, depth, to_write))
    return pa.list_(pa.field("element", type_, draw(st.booleans()))) if type_ and proto.is_repeated else type_


@st.composite
def _single_types(draw: st.DrawFn, proto: FieldDescriptor, depth: int, to_write: bool) -> pa.DataType | None:
    message = proto.message_type
    if message is None:
        return draw(st.sampled_from(scalar_types(proto)))
    if message.full_name == TIMESTAMP and draw(st.booleans()):
        return pa.timestamp("us", "UTC")
    if message.full_name in WRAPPERS and draw(st.booleans()):
        return draw(st.sampled_from(scalar_types(message.fields_by_name["value"])))
    if not depth:
        return None
    fields = draw(_columns(message, depth - 1, to_write))
    return pa.struct(fields) if fields else None


def rows_of(schema: pa.Schema, message: Descriptor) -> st.SearchStrategy[pa.RecordBatch]:
    """Rows that are read as they are written.

    Enums have names and numbers of their own, unsigned numbers are not negative, one member of a oneof is not NULL, and
    there is no NULL where there is no presence, nor an empty array where it would be read as NULL.
    """
    one = _struct(list(schema), message)
    return st.lists(one, max_size=5).map(lambda rows: pa.RecordBatch.from_pylist(rows, schema=schema))


def _struct(fields: list[pa.Field], message: Descriptor) -> st.SearchStrategy[dict[str, Any]]:
    values_ = {field.name: _values(field, message.fields_by_name[field.name]) for field in fields}
    return st.fixed_dictionaries(values_).map(lambda row: _with_one_member(row, message))


def _with_one_member(row: dict[str, Any], message: Descriptor) -> dict[str, Any]:
    for oneof in message.oneofs:
        given = [member.name for member in oneof.fields if row.get(member.name) is not None]
        row = row | dict.fromkeys(given[1:])
    return row


def _values(field: pa.Field, proto: FieldDescriptor) -> st.SearchStrategy[Any]:
    some = _some(field.type, proto, least=int(field.nullable))
    can_be_null = field.nullable and not proto.is_required and (proto.is_repeated or proto.has_presence)
    return some | st.none() if can_be_null else some


def _some(type_: pa.DataType, proto: FieldDescriptor, least: int) -> st.SearchStrategy[Any]:
    if is_map(proto):
        key, item = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        keys, items = _single(type_.key_type, key), _single(type_.item_type, item)
        return st.dictionaries(keys, items, min_size=least, max_size=3).map(lambda found: list(found.items()))
    if proto.is_repeated:
        return st.lists(_single(type_.value_type, proto), min_size=least, max_size=3)
    return _single(type_, proto)


def _single(type_: pa.DataType, proto: FieldDescriptor) -> st.SearchStrategy[Any]:
    message = proto.message_type
    if proto.enum_type is not None:
        # the second name of a number is read as its first one
        names = {value.name: value.number for value in proto.enum_type.values if value.name != "UNO"}
        return st.sampled_from(list(names) if type_ == pa.string() else list(names.values()))
    if message is not None and pa.types.is_struct(type_):
        return _struct(list(type_), message)
    if message is not None and message.full_name in WRAPPERS:
        return _single(type_, message.fields_by_name["value"])
    if proto.type in (kind_number("uint32"), kind_number("fixed32")) and type_ == pa.int64():
        return st.integers(0, 2**32 - 1)
    if pa.types.is_decimal(type_):
        return st.integers(0, 2**64 - 1)
    return values(type_, nullable=False)


@st.composite
def messages(draw: st.DrawFn, message_class: Any) -> Any:
    """Messages of a class, with some of their fields set."""
    made = message_class()
    _fill(draw, made, message_class.DESCRIPTOR, 3)
    return made


def _fill(draw: st.DrawFn, made: Any, message: Descriptor, depth: int) -> None:
    for field in message.fields:
        if field.is_required or draw(st.booleans()):
            _set(draw, made, field, depth)


def _set(draw: st.DrawFn, made: Any, field: FieldDescriptor, depth: int) -> None:
    holder = getattr(made, field.name)
    if is_map(field):
        _set_entries(draw, holder, field.message_type, depth)
    elif field.message_type is not None:
        _set_messages(draw, holder, field, depth)
    elif field.is_repeated:
        holder.extend(draw(st.lists(_proto_values(field), max_size=3)))
    else:
        setattr(made, field.name, draw(_proto_values(field)))


def _set_messages(draw: st.DrawFn, holder: Any, field: FieldDescriptor, depth: int) -> None:
    if not depth:
        return
    if field.is_repeated:
        inner = [holder.add() for _ in range(draw(st.integers(0, 3)))]
    else:
        Empty.SetInParent(holder)
        inner = [holder]
    for message in inner:
        _fill(draw, message, field.message_type, depth - 1)


def _set_entries(draw: st.DrawFn, holder: Any, entry: Descriptor, depth: int) -> None:
    key, item = entry.fields_by_name["key"], entry.fields_by_name["value"]
    for name in draw(st.lists(_proto_values(key), max_size=3)):
        if item.message_type is None:
            holder[name] = draw(_proto_values(item))
        elif depth:
            _fill(draw, holder[name], item.message_type, depth - 1)


def _proto_values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.enum_type is not None:
        known = [value.number for value in field.enum_type.values]
        return st.sampled_from(known if field.enum_type.is_closed else [*known, 5])
    if field.containing_type.full_name == TIMESTAMP:
        return _NANOS if field.name == "nanos" else _SECONDS
    return _PROTO[field.type]


_INTS = {bits: st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) | st.integers(-2, 2) for bits in (32, 64)}
_SECONDS = st.integers(-62_135_596_800, 253_402_300_799) | st.integers(-62_135_596_800, 253_402_300_799) | _INTS[64]
_NANOS = st.integers(0, 999_999_999) | st.integers(0, 999_999_999) | st.integers(-1, 2**31 - 1)
_UNSIGNED = {bits: st.integers(0, (1 << bits) - 1) | st.integers(0, 2) for bits in (32, 64)}
_PROTO = {
    kind_number(kind): strategy
    for kind, strategy in {
        "double": st.floats() | st.sampled_from([0.0, -0.0, math.nan]),
        "float": st.floats(width=32),
        "int32": _INTS[32],
        "int64": _INTS[64],
        "uint32": _UNSIGNED[32],
        "uint64": _UNSIGNED[64],
        "sint32": _INTS[32],
        "sint64": _INTS[64],
        "fixed32": _UNSIGNED[32],
        "fixed64": _UNSIGNED[64],
        "sfixed32": _INTS[32],
        "sfixed64": _INTS[64],
        "bool": st.booleans(),
        "string": st.text(st.characters(codec="utf-8"), max_size=5),
        "bytes": st.binary(max_size=5),
    }.items()
}


def payloads(message_class: Any) -> st.SearchStrategy[bytes | None]:
    """Messages as they are, two in one (which protobuf merges), broken ones, and what is none."""
    unknown = st.sampled_from(
        [b"", b"", b"\xf2\x3f\x02ab", b"\xf3\x3f\xf4\x3f", b"\xf3\x3f\x08\x01\xf4\x3f", b"\xf0\x3f\x07"]
    )
    whole = messages(message_class).map(lambda message: message.SerializePartialToString())
    good = st.tuples(unknown, whole, unknown).map(b"".join)
    merged = st.lists(good, min_size=2, max_size=3).map(b"".join)
    broken = st.tuples(good | merged, st.integers(0, 60), st.integers(0, 2), st.binary(max_size=4)).map(
        lambda p: p[0][: p[1]] + p[3] + p[0][p[1] + p[2] :]
    )
    odd = st.sampled_from([None, b"", b"\xff", b"\x0a\x05ab", b"\x0b\x0c", b"\x0c", b"\x00", b"\x07"])
    long_tags = st.sampled_from(
        [b"\xfa\xff\xff\xff\xff\xff\x01\x00", b"\xfa\xff\xff\xff\x7f\x00", b"\x12" + b"\xff" * 9 + b"\x01abc"]
    )
    return st.one_of(good, good, merged, merged, broken, broken, odd, long_tags, st.binary(max_size=20))
