"""A message type made for ptars, which has the same bytes as the real one and nothing that ptars treats otherwise.

ptars knows more than the wire: it takes timestamps and wrappers apart and does not merge them, fails on some, keeps a
map's repeated keys, and knows no editions. So it is given a type of its own: plain messages for all of these, numbers
for enums, only the fields that columns ask for, and beside them the other members of their oneofs, since a member that
comes later unsets the ones before.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from millrace_formats.protobuf.schema.fields import Array, Enum, Field, Instant, Map, Scalar, Struct, Value, Wrapped

PACKAGE = "millrace"

_LARGEST_NUMBER = 1 << 16
"""ptars makes a table with an entry for each number up to the largest, anew for each batch."""

_SECONDS = ("f1", FieldDescriptor.TYPE_INT64)
_NANOS = ("f2", FieldDescriptor.TYPE_INT32)

_WIRE: dict[int, pa.DataType] = {
    FieldDescriptor.TYPE_BOOL: pa.bool_(),
    FieldDescriptor.TYPE_INT32: pa.int32(),
    FieldDescriptor.TYPE_SINT32: pa.int32(),
    FieldDescriptor.TYPE_SFIXED32: pa.int32(),
    FieldDescriptor.TYPE_UINT32: pa.uint32(),
    FieldDescriptor.TYPE_FIXED32: pa.uint32(),
    FieldDescriptor.TYPE_INT64: pa.int64(),
    FieldDescriptor.TYPE_SINT64: pa.int64(),
    FieldDescriptor.TYPE_SFIXED64: pa.int64(),
    FieldDescriptor.TYPE_UINT64: pa.uint64(),
    FieldDescriptor.TYPE_FIXED64: pa.uint64(),
    FieldDescriptor.TYPE_FLOAT: pa.float32(),
    FieldDescriptor.TYPE_DOUBLE: pa.float64(),
    FieldDescriptor.TYPE_STRING: pa.string(),
    FieldDescriptor.TYPE_BYTES: pa.binary(),
    FieldDescriptor.TYPE_ENUM: pa.int32(),
}


class UnsupportedError(Exception):
    """ptars cannot read or write a shape exactly; the message says why."""


def wire_name(proto: FieldDescriptor) -> str:
    """The name of a field in ptars' batches: free of what real names can clash with."""
    return f"f{proto.number}"


def wire_arrow_type(value: Value) -> pa.DataType:
    """The type of a value in ptars' batches; that of a map is a list of its entries."""
    match value:
        case Scalar(proto) | Enum(proto):
            return _WIRE[proto.type]
        case Wrapped(inner):
            return pa.struct([("f1", wire_arrow_type(inner))])
        case Instant():
            return pa.struct([(name, _WIRE[kind]) for name, kind in (_SECONDS, _NANOS)])
        case Struct(_, fields):
            return pa.struct([(wire_name(field.proto), wire_arrow_type(field.value)) for field in fields])
        case Array(element):
            return pa.list_(wire_arrow_type(element))
        case Map(key, item):
            return pa.list_(pa.struct([("f1", wire_arrow_type(key)), ("f2", wire_arrow_type(item))]))


def wire_file(row: Struct, *, with_oneofs: bool) -> tuple[FileDescriptorProto, str]:
    """A file with a message type for a row, and that type's name.

    Args:
        row: The row.
        with_oneofs: Whether to add the fields that share a oneof with those of the row.

    Raises:
        UnsupportedError: ptars cannot do it.
    """
    made = _WireFile(with_oneofs)
    return made.file, made.add_struct(row)


def oneof_members(struct: Struct) -> Iterator[list[FieldDescriptor]]:
    """The members of each oneof that a struct has a field of and that has more than one."""
    names = {field.name for field in struct.fields}
    for oneof in struct.message.oneofs:
        if len(oneof.fields) > 1 and any(member.name in names for member in oneof.fields):
            yield list(oneof.fields)


class _WireFile:
    def __init__(self, with_oneofs: bool) -> None:
        self.file = FileDescriptorProto(name="millrace.proto", package=PACKAGE, syntax="proto3")
        self._with_oneofs = with_oneofs

    def add_struct(self, struct: Struct) -> str:
        if not struct.fields:
            raise UnsupportedError(f"message {struct.message.full_name} has no columns")
        message = self._add_message()
        for field in struct.fields:
            self._add_field(message, field)
        if self._with_oneofs:
            present = {field.name for field in struct.fields}
            for members in oneof_members(struct):
                for member in (member for member in members if member.name not in present):
                    self._add_sibling(message, member)
        return f"{PACKAGE}.{message.name}"

    def _add_message(self) -> DescriptorProto:
        return self.file.message_type.add(name=f"M{len(self.file.message_type)}")

    def _add_field(self, message: DescriptorProto, field: Field) -> None:
        made = self._add_of_value(message, field.proto, field.value)
        if field.proto.is_repeated:
            made.label = FieldDescriptorProto.LABEL_REPEATED
        elif field.proto.has_presence:
            _give_presence(message, made)

    def _add_sibling(self, message: DescriptorProto, member: FieldDescriptor) -> None:
        """Add a member of a oneof of which only matters whether it is set."""
        if member.message_type is None:
            _give_presence(message, _add_scalar(message, member))
        else:
            self._add_message_field(message, member, f"{PACKAGE}.{self._add_message().name}")

    def _add_of_value(self, message: DescriptorProto, proto: FieldDescriptor, value: Value) -> FieldDescriptorProto:
        match value:
            case Array(element):
                return self._add_of_value(message, proto, element)
            case Scalar() | Enum():
                return _add_scalar(message, proto)
            case _:
                return self._add_message_field(message, proto, self._add_type(value))

    def _add_type(self, value: Value) -> str:
        """The name of a message type for a value that is a message."""
        if isinstance(value, Struct):
            return self.add_struct(value)
        made = self._add_message()
        match value:
            case Wrapped(inner):
                made.field.add(name="f1", number=1, type=inner.proto.type, label=FieldDescriptorProto.LABEL_OPTIONAL)
            case Instant():
                for number, (name, kind) in enumerate((_SECONDS, _NANOS), 1):
                    made.field.add(name=name, number=number, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL)
            case Map(key, item):
                _add_scalar(made, key.proto)
                self._add_of_value(made, key.proto.containing_type.fields_by_name["value"], item)
        return f"{PACKAGE}.{made.name}"

    def _add_message_field(self, message: DescriptorProto, proto: FieldDescriptor, type_: str) -> FieldDescriptorProto:
        if proto.type == FieldDescriptor.TYPE_GROUP:
            raise UnsupportedError(f"field {proto.full_name} is a group")
        made = _add_scalar(message, proto)
        made.type, made.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{type_}"
        return made


def _add_scalar(message: DescriptorProto, proto: FieldDescriptor) -> FieldDescriptorProto:
    if proto.number > _LARGEST_NUMBER:
        raise UnsupportedError(f"field {proto.full_name} has the number {proto.number}, above {_LARGEST_NUMBER}")
    kind = FieldDescriptor.TYPE_INT32 if proto.enum_type is not None else proto.type
    made = message.field.add(name=wire_name(proto), number=proto.number, type=kind)
    made.label = FieldDescriptorProto.LABEL_OPTIONAL
    return made


def _give_presence(message: DescriptorProto, made: FieldDescriptorProto) -> None:
    """Make a scalar one of which is known whether it is set; messages are so anyway."""
    if made.type != FieldDescriptorProto.TYPE_MESSAGE:
        made.proto3_optional, made.oneof_index = True, len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{made.name}")
