"""Hypothesis strategies for protobuf message types, schemas of their columns, rows of these, and payloads."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from google.protobuf import timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from hypothesis import strategies as st

from millrace_formats.protobuf import ProtobufFormat, ProtobufOptions
from millrace_formats.protobuf.descriptor_set import DescriptorSet
from millrace_formats.protobuf.shape import TIMESTAMP, WRAPPERS, is_map, natural_scalar
from unit.formats.arrow_rows import values

SCALARS = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64", "bool", "string", "bytes",
]  # fmt: skip
KEYS = [kind for kind in SCALARS if kind not in ("double", "float", "bytes")]
NAMES = ["id", "class", "Clear", "fooBar", "foo_baz", "value", "DESCRIPTOR", "x1"]

_REPEATED, _REQUIRED = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.LABEL_REQUIRED


def kind_number(kind: str) -> int:
    """The number of a kind of field, such as ``int32``."""
    number: int = getattr(FieldDescriptorProto, f"TYPE_{kind.upper()}")
    return number


def file_of(*, syntax: str = "proto3", package: str = "t") -> FileDescriptorProto:
    """A file that knows timestamps and wrappers, and an enum ``E`` with an alias and a negative number."""
    file = FileDescriptorProto(name="t.proto", package=package)
    if syntax == "proto3":
        file.syntax = syntax
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    enum = file.enum_type.add(name="E")
    enum.options.allow_alias = True
    for name, number in (("ZERO", 0), ("ONE", 1), ("UNO", 1), ("MINUS", -1), ("BIG", 2**31 - 1)):
        enum.value.add(name=name, number=number)
    return file


def descriptors(file: FileDescriptorProto, message: str) -> DescriptorSet:
    """The descriptor set of a file and what it imports."""
    known = [FileDescriptorProto.FromString(m.DESCRIPTOR.serialized_pb) for m in (timestamp_pb2, wrappers_pb2)]
    return DescriptorSet("the test", FileDescriptorSet(file=[*known, file]).SerializeToString(), None if message else "")


def format_of(file: FileDescriptorProto, message: str = "t.M", **options: Any) -> ProtobufFormat:
    """The format for a message type of a file."""
    return ProtobufFormat(
        ProtobufOptions(message_class_name=message, descriptor_set=descriptors(file, message), **options)
    )


def add_field(message: DescriptorProto, name: str, number: int, kind: str, *, repeated: bool = False) -> FieldDescriptorProto:
    """Add a field of a scalar kind, or of a message or enum by its full name, as ``.t.N`` or ``.t.E``."""
    made = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
    if repeated:
        made.label = _REPEATED
    if kind.startswith("."):
        made.type = FieldDescriptorProto.TYPE_ENUM if kind == ".t.E" else FieldDescriptorProto.TYPE_MESSAGE
        made.type_name = kind
    else:
        made.type = kind_number(kind)
    return made


def add_map(message: DescriptorProto, name: str, number: int, key: str, value: str) -> None:
    """Add a map."""
    entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    add_field(entry, "key", 1, key)
    add_field(entry, "value", 2, value)
    add_field(message, name, number, f".t.{message.name}.{entry.name}", repeated=True)


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
    kinds = st.sampled_from([*SCALARS, ".t.E"]) | st.sampled_from([*messages, f".{TIMESTAMP}", *(f".{w}" for w in sorted(WRAPPERS))])
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    numbers = draw(st.lists(st.integers(1, 20), min_size=len(names), max_size=len(names), unique=True))
    if draw(st.booleans()):
        message.oneof_decl.add(name="choice")
    for field_name, number in zip(names, numbers, strict=True):
        if draw(st.integers(0, 4)) == 0:
            add_map(message, field_name, number, draw(st.sampled_from(KEYS)), draw(kinds))
            continue
        made = add_field(message, field_name, number, draw(kinds), repeated=draw(st.integers(0, 3)) == 0)
        if made.label == _REPEATED:
            if made.type not in (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES, FieldDescriptorProto.TYPE_MESSAGE):
                made.options.packed = draw(st.booleans())
        elif message.oneof_decl and draw(st.booleans()):
            made.oneof_index = 0
        elif syntax == "proto2" and made.type != FieldDescriptorProto.TYPE_MESSAGE:
            if draw(st.integers(0, 5)) == 0:
                made.label = _REQUIRED
            elif draw(st.booleans()):
                _set_default(made)
    _finish_oneofs(draw, message, syntax)


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
def schemas(draw: st.DrawFn, message: Descriptor, *, nullable: bool | None = None, whole: bool = False) -> pa.Schema:
    """Schemas of columns of a message type.

    Args:
        draw: Hypothesis' own.
        message: The message type.
        nullable: Whether columns may be NULL; None for either.
        whole: Whether there is a column for each field, as far as required ones go.
    """
    return pa.schema(list(draw(_columns(message, 3, nullable, whole))))


@st.composite
def _columns(draw: st.DrawFn, message: Descriptor, depth: int, nullable: bool | None, whole: bool) -> list[pa.Field]:
    chosen = [field for field in message.fields if (whole and field.is_required) or draw(st.integers(0, 3))]
    made = []
    for field in draw(st.permutations(chosen or message.fields[:1])):
        may_be_null = draw(st.booleans()) if nullable is None else nullable
        type_ = draw(_types(field, depth, nullable, whole))
        if type_ is not None:
            made.append(pa.field(field.name, type_, may_be_null))
    if not made:
        field = message.fields[0]
        made = [pa.field(field.name, pa.int32(), True)] if not message.fields else []
    return made


@st.composite
def _types(draw: st.DrawFn, proto: FieldDescriptor, depth: int, nullable: bool | None, whole: bool) -> pa.DataType | None:
    if is_map(proto):
        key, item = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        type_ = draw(_single_types(item, depth, nullable, whole))
        return None if type_ is None else pa.map_(draw(_single_types(key, depth, nullable, whole)), type_)
    type_ = draw(_single_types(proto, depth, nullable, whole))
    if type_ is None or not proto.is_repeated:
        return type_
    return pa.list_(pa.field("element", type_, draw(st.booleans()) if nullable is None else nullable))


@st.composite
def _single_types(draw: st.DrawFn, proto: FieldDescriptor, depth: int, nullable: bool | None, whole: bool) -> pa.DataType | None:
    message = proto.message_type
    if message is None:
        types = [natural_scalar(proto)]
        if proto.enum_type is not None:
            types += [pa.int32(), pa.int64()]
        elif proto.type in (kind_number("uint32"), kind_number("fixed32")):
            types.append(pa.int32())
        elif proto.type in (kind_number("uint64"), kind_number("fixed64")):
            types.append(pa.int64())
        return draw(st.sampled_from(types))
    if message.full_name == TIMESTAMP and draw(st.booleans()):
        return pa.timestamp("us", "UTC")
    if message.full_name in WRAPPERS and draw(st.booleans()):
        return natural_scalar(message.fields_by_name["value"])
    if not depth:
        return None
    fields = draw(_columns(message, depth - 1, nullable, whole))
    return pa.struct(fields) if fields else None


def rows_of(schema: pa.Schema, message: Descriptor) -> st.SearchStrategy[pa.RecordBatch]:
    """Rows that can be written as messages of a type: names of enums are its own, unsigned numbers are not negative."""
    one = st.fixed_dictionaries({field.name: _values(field, message.fields_by_name[field.name]) for field in schema})
    return st.lists(one, max_size=5).map(lambda rows: pa.RecordBatch.from_pylist(rows, schema=schema))


def _values(field: pa.Field, proto: FieldDescriptor) -> st.SearchStrategy[Any]:
    some = _some(field.type, proto)
    return some | st.none() if field.nullable and not proto.is_required else some


def _some(type_: pa.DataType, proto: FieldDescriptor) -> st.SearchStrategy[Any]:
    if is_map(proto):
        key, item = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        entries = st.dictionaries(_single(type_.key_type, key), _single(type_.item_type, item), max_size=3)
        return entries.map(lambda found: list(found.items()))
    if proto.is_repeated:
        return st.lists(_single(type_.value_type, proto), max_size=3)
    return _single(type_, proto)


def _single(type_: pa.DataType, proto: FieldDescriptor) -> st.SearchStrategy[Any]:
    message = proto.message_type
    if proto.enum_type is not None:
        # the second name of a number is read as its first one
        names = {value.name: value.number for value in proto.enum_type.values if value.name != "UNO"}
        return st.sampled_from(list(names) if type_ == pa.string() else list(names.values()))
    if message is not None and pa.types.is_struct(type_):
        return st.fixed_dictionaries({field.name: _values(field, message.fields_by_name[field.name]) for field in type_})
    if message is not None and message.full_name in WRAPPERS:
        return _single(type_, message.fields_by_name["value"])
    if proto.type in (kind_number("uint32"), kind_number("fixed32")) and type_ == pa.int64():
        return st.integers(0, 2**32 - 1)
    if pa.types.is_decimal(type_):
        return st.integers(0, 2**64 - 1)
    return values(type_, nullable=False)


def messages(message_class: Any) -> st.SearchStrategy[Any]:
    """Messages of a class, with some of their fields set."""
    return _message(message_class.DESCRIPTOR, message_class, 3)


@st.composite
def _message(draw: st.DrawFn, message: Descriptor, message_class: Any, depth: int) -> Any:
    made = message_class()
    _fill(draw, made, message, depth)
    return made


def _fill(draw: st.DrawFn, made: Any, message: Descriptor, depth: int) -> None:
    for field in message.fields:
        if field.is_required or draw(st.booleans()):
            _set(draw, made, field, depth)


def _set(draw: st.DrawFn, made: Any, field: FieldDescriptor, depth: int) -> None:
    holder = getattr(made, field.name)
    if is_map(field):
        key, item = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
        for _ in range(draw(st.integers(0, 3))):
            name = draw(_proto_values(key))
            if item.message_type is None:
                holder[name] = draw(_proto_values(item))
            else:
                _fill(draw, holder[name], item.message_type, depth - 1) if depth else holder[name].SetInParent()
    elif field.is_repeated:
        for _ in range(draw(st.integers(0, 3))):
            if field.message_type is None:
                holder.append(draw(_proto_values(field)))
            elif depth:
                _fill(draw, holder.add(), field.message_type, depth - 1)
    elif field.message_type is None:
        setattr(made, field.name, draw(_proto_values(field)))
    elif depth:
        holder.SetInParent()
        _fill(draw, holder, field.message_type, depth - 1)


def _proto_values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    kind = field.type
    if field.enum_type is not None:
        known = [value.number for value in field.enum_type.values]
        return st.sampled_from(known if field.enum_type.is_closed else [*known, 5])
    if field.containing_type.full_name == TIMESTAMP:
        return st.integers(-(2**31), 2**31 - 1) if field.name == "nanos" else _INTS[64]
    return _PROTO[kind]


_INTS = {bits: st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) | st.integers(-2, 2) for bits in (32, 64)}
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
    good = messages(message_class).map(lambda message: message.SerializePartialToString())
    merged = st.lists(good, min_size=2, max_size=3).map(b"".join)
    broken = st.tuples(good | merged, st.integers(0, 60), st.integers(0, 2), st.binary(max_size=4)).map(
        lambda p: p[0][: p[1]] + p[3] + p[0][p[1] + p[2] :]
    )
    odd = st.sampled_from([None, b"", b"\xff", b"\x0a\x05ab", b"\x0b\x0c", b"\x0c", b"\x00", b"\x07"])
    long_tags = st.sampled_from([b"\xfa\xff\xff\xff\xff\xff\x01\x00", b"\xfa\xff\xff\xff\x7f\x00", b"\x12" + b"\xff" * 9 + b"\x01abc"])
    return st.one_of(good, good, merged, merged, broken, broken, odd, long_tags, st.binary(max_size=20))
