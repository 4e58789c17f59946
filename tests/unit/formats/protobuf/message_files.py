"""Protobuf files made for tests, the format for their messages, and what was decoded, to compare."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from google.protobuf import timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from millrace.contracts import Decoded
from millrace_formats.protobuf import ProtobufFormat, ProtobufOptions
from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet

SCALARS = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64", "bool", "string", "bytes",
]  # fmt: skip


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


def format_of(file: FileDescriptorProto, message: str = "t.M", **options: Any) -> ProtobufFormat:
    """The format for a message type of a file."""
    known = [FileDescriptorProto.FromString(m.DESCRIPTOR.serialized_pb) for m in (timestamp_pb2, wrappers_pb2)]
    files = FileDescriptorSet(file=[*known, file]).SerializeToString()
    return ProtobufFormat(
        ProtobufOptions(message_class_name=message, descriptor_set=DescriptorSet("a test", files, message), **options)
    )


def add_field(
    message: DescriptorProto, name: str, number: int, kind: str, *, repeated: bool = False
) -> FieldDescriptorProto:
    """Add a field of a scalar kind, or of a message or enum by its full name, as ``.t.N`` or ``.t.E``."""
    made = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
    if repeated:
        made.label = FieldDescriptorProto.LABEL_REPEATED
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


def facts(decoded: Decoded) -> tuple[Any, ...]:
    """Return what was decoded in comparable form, maps sorted, as their order has no meaning."""
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    rows = [_sorted_maps(row, pa.struct(list(decoded.rows.schema))) for row in decoded.rows.to_pylist()]
    return repr(rows), index, decoded.errors


def _sorted_maps(value: Any, type_: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_map(type_):
        return sorted((key, repr(_sorted_maps(item, type_.item_type))) for key, item in value)
    if pa.types.is_list(type_):
        return [_sorted_maps(item, type_.value_type) for item in value]
    if pa.types.is_struct(type_):
        return {field.name: _sorted_maps(value[field.name], field.type) for field in type_}
    return value
