"""Map the columns of a schema to the fields of a protobuf message."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from millrace.errors import SchemaError
from millrace.options.suggestions import closest
from millrace_formats.protobuf.schema.fields import (
    EnumValue,
    Instant,
    MapValue,
    MessageField,
    RepeatedValue,
    ScalarValue,
    Single,
    Struct,
    Value,
    Wrapped,
)
from millrace_formats.protobuf.schema.types import (
    TIMESTAMP,
    WRAPPERS,
    column_types,
    is_map,
    map_entry,
    proto_type,
    scalar_types,
)
from millrace_formats.shared.sql_types import check_schema, is_instant, sql_name


def map_schema(schema: pa.Schema, message: Descriptor, *, read_default_values: bool = False) -> Struct:
    """Map the columns of a schema to the fields of a message type.

    Args:
        schema: The columns.
        message: The message type.
        read_default_values: Whether fields that a message lacks are read as their defaults.

    Raises:
        SchemaError: A column has no field in the message, or not one of its type; all such columns are named.
    """
    planner = _SchemaMapper(read_default_values)

    def problem(path: str, type_: pa.DataType) -> str | None:
        try:
            planner.field(message, pa.field(path, type_), path)
        except SchemaError as error:
            return str(error)
        return None

    check_schema("protobuf", schema, problem)
    fields = tuple(planner.field(message, column, column.name) for column in schema)
    return Struct(message, fields, pa.struct(list(schema)))


@dataclass(frozen=True)
class _SchemaMapper:
    read_default_values: bool

    def field(self, message: Descriptor, column: pa.Field, path: str) -> MessageField:
        proto = message.fields_by_name.get(column.name)
        if proto is None:
            raise SchemaError(_no_such_field(message, column.name, path))
        value = self._value(proto, column.type, path)
        if proto.is_repeated:
            # a message without elements lacks the field, so that a NOT NULL column has to read an empty one
            reads_default = self.read_default_values or not column.nullable
        else:
            reads_default = self.read_default_values or not proto.has_presence
        return MessageField(proto, value, column.nullable, reads_default)

    def _value(self, proto: FieldDescriptor, type_: pa.DataType, path: str) -> Value:
        if is_map(proto):
            if not pt.is_map(type_):
                raise _mismatch(proto, type_, path)
            key, value = map_entry(proto)
            if type_.key_type not in scalar_types(key):
                raise _mismatch(proto, type_, path)
            item = self._single(value, type_.item_type, f"{path}.value")
            return MapValue(ScalarValue(key, type_.key_type), item, type_)
        if not proto.is_repeated:
            return self._single(proto, type_, path)
        if not pt.is_list(type_):
            raise _mismatch(proto, type_, path)
        return RepeatedValue(self._single(proto, type_.value_type, f"{path}.element"), type_)

    def _single(self, proto: FieldDescriptor, type_: pa.DataType, path: str) -> Single:
        message = proto.message_type
        if message is None:
            if type_ not in scalar_types(proto):
                raise _mismatch(proto, type_, path)
            return EnumValue(proto, type_) if proto.enum_type is not None else ScalarValue(proto, type_)
        if message.full_name == TIMESTAMP and is_instant(type_):
            return Instant(type_)
        if message.full_name in WRAPPERS:
            inner = message.fields_by_name["value"]
            if type_ in scalar_types(inner):
                return Wrapped(ScalarValue(inner, type_))
        if not pt.is_struct(type_):
            raise _mismatch(proto, type_, path)
        return self._struct(message, type_, path)

    def _struct(self, message: Descriptor, type_: pa.StructType, path: str) -> Struct:
        names = [field.name for field in type_]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise SchemaError(f"column {path} has two fields named {min(repeated)!r}")
        fields = tuple(self.field(message, column, f"{path}.{column.name}") for column in type_)
        return Struct(message, fields, type_)


def _mismatch(proto: FieldDescriptor, type_: pa.DataType, path: str) -> SchemaError:
    return SchemaError(
        f"column {path} is {sql_name(type_)}, but field {proto.full_name} is {proto_type(proto)}: use "
        f"{column_types(proto)}"
    )


def _no_such_field(message: Descriptor, name: str, path: str) -> str:
    names = [field.name for field in message.fields]
    close = closest(name, names)
    hint = f"did you mean {close!r}?" if close else f"it has {', '.join(names) or 'no fields'}"
    return f"column {path} has no field in message {message.full_name}; {hint}"
