"""A message type for ptars, with the same wire format as the real one and no field that ptars treats in its own way.

ptars converts more than the wire format: it takes timestamps and wrappers apart and does not merge them, fails on
some, keeps repeated keys of a map, and does not support editions. So it gets a type of its own: plain messages for all
of these, numbers for enums, only the fields that have columns, and the other members of their oneofs, since a later
member unsets the earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from millrace_formats.protobuf.schema.fields import (
    EnumValue,
    Instant,
    MapValue,
    MessageField,
    RepeatedValue,
    ScalarValue,
    Struct,
    Value,
    Wrapped,
)

PACKAGE = "millrace"

_MAX_FIELD_NUMBER = 1 << 16
"""For each batch ptars makes a table with an entry for each number up to the largest."""

_OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL

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
    """ptars cannot read or write a row exactly; the message says why."""


def wire_name(proto: FieldDescriptor) -> str:
    """Return the name of a field in ptars' batches, which cannot clash as real names can."""
    return f"f{proto.number}"


def wire_arrow_type(value: Value) -> pa.DataType:
    """Return the Arrow type of a value in ptars' batches; a map is a list of its entries."""
    match value:
        case ScalarValue(proto) | EnumValue(proto):
            return _WIRE[proto.type]
        case Wrapped(inner):
            return pa.struct([("f1", wire_arrow_type(inner))])
        case Instant():
            return pa.struct([(name, _WIRE[kind]) for name, kind in (_SECONDS, _NANOS)])
        case Struct(_, fields):
            return pa.struct([(wire_name(field.proto), wire_arrow_type(field.value)) for field in fields])
        case RepeatedValue(element):
            return pa.list_(wire_arrow_type(element))
        case MapValue(key, item):
            return pa.list_(pa.struct([("f1", wire_arrow_type(key)), ("f2", wire_arrow_type(item))]))


def wire_file(row: Struct, *, with_oneofs: bool) -> tuple[FileDescriptorProto, str]:
    """Make a file with a message type for a row, and return it with that type's name.

    Args:
        row: The row.
        with_oneofs: Whether to add the fields that share a oneof with those of the row.

    Raises:
        UnsupportedError: ptars does not support the row.
    """
    builder = _WireFileBuilder(with_oneofs)
    return builder.file, builder.add_struct(row)


def oneof_members(struct: Struct) -> Iterator[list[FieldDescriptor]]:
    """Yield the members of each oneof with several members, of which a struct has a field."""
    names = {field.name for field in struct.fields}
    for oneof in struct.message.oneofs:
        if len(oneof.fields) > 1 and any(member.name in names for member in oneof.fields):
            yield list(oneof.fields)


class _WireFileBuilder:
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
                    self._add_other_member(message, member)
        return f"{PACKAGE}.{message.name}"

    def _add_message(self) -> DescriptorProto:
        return self.file.message_type.add(name=f"M{len(self.file.message_type)}")

    def _add_field(self, message: DescriptorProto, field: MessageField) -> None:
        wire_field = self._add_value(message, field.proto, field.value)
        if field.proto.is_repeated:
            wire_field.label = FieldDescriptorProto.LABEL_REPEATED
        elif field.proto.has_presence:
            _add_presence(message, wire_field)

    def _add_other_member(self, message: DescriptorProto, member: FieldDescriptor) -> None:
        """Add a member of a oneof, only to know whether it is set."""
        if member.message_type is None:
            _add_presence(message, _add_scalar(message, member))
        else:
            self._add_message_field(message, member, f"{PACKAGE}.{self._add_message().name}")

    def _add_value(self, message: DescriptorProto, proto: FieldDescriptor, value: Value) -> FieldDescriptorProto:
        match value:
            case RepeatedValue(element):
                return self._add_value(message, proto, element)
            case ScalarValue() | EnumValue():
                return _add_scalar(message, proto)
            case _:
                return self._add_message_field(message, proto, self._add_type(value))

    def _add_type(self, value: Value) -> str:
        """Add a message type for a value that is a message, and return its name."""
        if isinstance(value, Struct):
            return self.add_struct(value)
        message = self._add_message()
        match value:
            case Wrapped(inner):
                message.field.add(name="f1", number=1, type=inner.proto.type, label=_OPTIONAL)
            case Instant():
                for number, (name, kind) in enumerate((_SECONDS, _NANOS), 1):
                    message.field.add(name=name, number=number, type=kind, label=_OPTIONAL)
            case MapValue(key, item):
                _add_scalar(message, key.proto)
                self._add_value(message, key.proto.containing_type.fields_by_name["value"], item)
        return f"{PACKAGE}.{message.name}"

    def _add_message_field(self, message: DescriptorProto, proto: FieldDescriptor, type_: str) -> FieldDescriptorProto:
        if proto.type == FieldDescriptor.TYPE_GROUP:
            raise UnsupportedError(f"field {proto.full_name} is a group")
        wire_field = _add_scalar(message, proto)
        wire_field.type, wire_field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{type_}"
        return wire_field


def _add_scalar(message: DescriptorProto, proto: FieldDescriptor) -> FieldDescriptorProto:
    if proto.number > _MAX_FIELD_NUMBER:
        raise UnsupportedError(f"field {proto.full_name} has the number {proto.number}, above {_MAX_FIELD_NUMBER}")
    kind = FieldDescriptor.TYPE_INT32 if proto.enum_type is not None else proto.type
    wire_field = message.field.add(name=wire_name(proto), number=proto.number, type=kind)
    wire_field.label = _OPTIONAL
    return wire_field


def _add_presence(message: DescriptorProto, wire_field: FieldDescriptorProto) -> None:
    """Give a scalar field presence, which messages have anyway."""
    if wire_field.type != FieldDescriptorProto.TYPE_MESSAGE:
        wire_field.proto3_optional, wire_field.oneof_index = True, len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{wire_field.name}")
