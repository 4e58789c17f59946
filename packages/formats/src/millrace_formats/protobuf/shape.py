"""Which protobuf field each column is, and as what it is read and written: worked out once, from schema and message.

A shape is a tree: `Struct` for the row and for nested messages, with a `Field` for each column, whose value is one of
the kinds below. Reading and writing, fast and exact, all follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from millrace.errors import SchemaError
from millrace.options.suggestions import closest
from millrace_formats.shared.sql_types import check_schema, is_instant, sql_name

UNSIGNED_64 = pa.decimal128(20, 0)
"""The only type of SQL that holds every unsigned number of 64 bits."""

TIMESTAMP = "google.protobuf.Timestamp"

WRAPPERS = {
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}

_TYPES: dict[int, tuple[pa.DataType, ...]] = {
    FieldDescriptor.TYPE_BOOL: (pa.bool_(),),
    FieldDescriptor.TYPE_INT32: (pa.int32(),),
    FieldDescriptor.TYPE_SINT32: (pa.int32(),),
    FieldDescriptor.TYPE_SFIXED32: (pa.int32(),),
    FieldDescriptor.TYPE_UINT32: (pa.int64(), pa.int32()),
    FieldDescriptor.TYPE_FIXED32: (pa.int64(), pa.int32()),
    FieldDescriptor.TYPE_INT64: (pa.int64(),),
    FieldDescriptor.TYPE_SINT64: (pa.int64(),),
    FieldDescriptor.TYPE_SFIXED64: (pa.int64(),),
    FieldDescriptor.TYPE_UINT64: (UNSIGNED_64, pa.int64()),
    FieldDescriptor.TYPE_FIXED64: (UNSIGNED_64, pa.int64()),
    FieldDescriptor.TYPE_FLOAT: (pa.float32(),),
    FieldDescriptor.TYPE_DOUBLE: (pa.float64(),),
    FieldDescriptor.TYPE_STRING: (pa.string(),),
    FieldDescriptor.TYPE_BYTES: (pa.binary(),),
    FieldDescriptor.TYPE_ENUM: (pa.string(), pa.int32(), pa.int64()),
}
"""The column types of each kind of field that holds no other, of which the first holds all of its values."""


@dataclass(frozen=True, eq=False)
class Scalar:
    """A number, boolean, text or bytes."""

    proto: FieldDescriptor
    type: pa.DataType


@dataclass(frozen=True, eq=False)
class Enum:
    """An enum, as the name of its value or as its number."""

    proto: FieldDescriptor
    type: pa.DataType


@dataclass(frozen=True, eq=False)
class Instant:
    """A google.protobuf.Timestamp as TIMESTAMP."""

    type: pa.DataType


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A google.protobuf.*Value as what it wraps, or NULL."""

    value: Scalar

    @property
    def type(self) -> pa.DataType:
        """The column's type."""
        return self.value.type


@dataclass(frozen=True, eq=False)
class Struct:
    """A message."""

    message: Descriptor
    fields: tuple[Field, ...]
    type: pa.StructType


@dataclass(frozen=True, eq=False)
class Array:
    """A repeated field."""

    element: Single
    type: pa.ListType


@dataclass(frozen=True, eq=False)
class Map:
    """A map field."""

    key: Scalar
    value: Single
    type: pa.MapType


Single = Scalar | Enum | Instant | Wrapped | Struct
Value = Single | Array | Map


@dataclass(frozen=True, eq=False)
class Field:
    """A column, or a field of a nested struct.

    Attributes:
        proto: The field of the message.
        value: What it holds.
        nullable: Whether it may be NULL.
        reads_default: Whether it is read as its default where a message lacks it, instead of as NULL.
    """

    proto: FieldDescriptor
    value: Value
    nullable: bool
    reads_default: bool

    @property
    def name(self) -> str:
        """The name of both the column and the protobuf field."""
        return str(self.proto.name)


def row_shape(schema: pa.Schema, message: Descriptor, *, read_default_values: bool = False) -> Struct:
    """How rows of a schema are messages of a type.

    Args:
        schema: The columns.
        message: The message type.
        read_default_values: Whether fields that a message lacks are read as their defaults.

    Raises:
        SchemaError: A column has no field in the message, or not one of its type; all such columns are named.
    """
    planner = _Planner(read_default_values)

    def problem(path: str, type_: pa.DataType) -> str | None:
        try:
            planner.field(message, pa.field(path, type_), path)
        except SchemaError as error:
            return str(error)
        return None

    check_schema("protobuf", schema, problem)
    fields = tuple(planner.field(message, column, column.name) for column in schema)
    return Struct(message, fields, pa.struct(list(schema)))


def column_types(proto: FieldDescriptor) -> str:
    """The types that a column of a field may have, in SQL's words."""
    if is_map(proto):
        key, value = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        return f"MAP<{_single_types(key)}, {_single_types(value)}>"
    return f"ARRAY<{_single_types(proto)}>" if proto.is_repeated else _single_types(proto)


def is_map(proto: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return proto.message_type is not None and proto.message_type.GetOptions().map_entry


def scalar_types(proto: FieldDescriptor) -> tuple[pa.DataType, ...]:
    """The column types of a field that holds no other, of which the first holds all of its values."""
    return _TYPES[proto.type]


@dataclass(frozen=True)
class _Planner:
    read_default_values: bool

    def field(self, message: Descriptor, column: pa.Field, path: str) -> Field:
        proto = message.fields_by_name.get(column.name)
        if proto is None:
            raise SchemaError(_no_such_field(message, column.name, path))
        value = self._value(proto, column.type, path)
        if proto.is_repeated:
            # what has no elements is not in a message at all, so that only a column that can be NULL tells by it
            reads_default = self.read_default_values or not column.nullable
        else:
            reads_default = self.read_default_values or not proto.has_presence
        return Field(proto, value, column.nullable, reads_default)

    def _value(self, proto: FieldDescriptor, type_: pa.DataType, path: str) -> Value:
        if is_map(proto):
            if not pt.is_map(type_):
                raise _mismatch(proto, type_, path)
            key, value = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
            if type_.key_type not in _TYPES[key.type]:
                raise _mismatch(proto, type_, path)
            item = self._single(value, type_.item_type, f"{path}.value")
            return Map(Scalar(key, type_.key_type), item, type_)
        if not proto.is_repeated:
            return self._single(proto, type_, path)
        if not pt.is_list(type_):
            raise _mismatch(proto, type_, path)
        return Array(self._single(proto, type_.value_type, f"{path}.element"), type_)

    def _single(self, proto: FieldDescriptor, type_: pa.DataType, path: str) -> Single:
        message = proto.message_type
        if message is None:
            if type_ not in _TYPES[proto.type]:
                raise _mismatch(proto, type_, path)
            return Enum(proto, type_) if proto.enum_type is not None else Scalar(proto, type_)
        if message.full_name == TIMESTAMP and is_instant(type_):
            return Instant(type_)
        if message.full_name in WRAPPERS:
            inner = message.fields_by_name["value"]
            if type_ in _TYPES[inner.type]:
                return Wrapped(Scalar(inner, type_))
        if not pt.is_struct(type_):
            raise _mismatch(proto, type_, path)
        return self._struct(message, type_, path)

    def _struct(self, message: Descriptor, type_: pa.StructType, path: str) -> Struct:
        names = [field.name for field in type_]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise SchemaError(f"column {path} has two fields named {min(repeated)!r}")
        fields = tuple(self.field(message, column, f"{path}.{column.name}") for column in type_)
        return Struct(message, fields, type_)


def _single_types(proto: FieldDescriptor) -> str:
    message = proto.message_type
    if message is None:
        return " or ".join(map(sql_name, _TYPES[proto.type]))
    if message.full_name == TIMESTAMP:
        return "TIMESTAMP or STRUCT<seconds: BIGINT, nanos: INT>"
    if message.full_name in WRAPPERS:
        inner = _single_types(message.fields_by_name["value"])
        return f"{inner} or STRUCT<value: {inner}>"
    return f"STRUCT<...> with fields of {message.full_name}"


def _mismatch(proto: FieldDescriptor, type_: pa.DataType, path: str) -> SchemaError:
    return SchemaError(
        f"column {path} is {sql_name(type_)}, but field {proto.full_name} is {proto_type(proto)}: use "
        f"{column_types(proto)}"
    )


def proto_type(proto: FieldDescriptor) -> str:
    """The type of a field as a proto file has it."""
    if is_map(proto):
        key, value = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
        return f"map<{proto_type(key)}, {proto_type(value)}>"
    named: Any = proto.message_type or proto.enum_type
    kind = named.full_name if named is not None else _KEYWORDS[proto.type]
    return f"repeated {kind}" if proto.is_repeated else str(kind)


_KEYWORDS = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in dir(FieldDescriptor)
    if name.startswith("TYPE_")
}


def _no_such_field(message: Descriptor, name: str, path: str) -> str:
    names = [field.name for field in message.fields]
    close = closest(name, names)
    hint = f"did you mean {close!r}?" if close else f"it has {', '.join(names) or 'no fields'}"
    return f"column {path} has no field in message {message.full_name}; {hint}"
