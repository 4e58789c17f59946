"""SQL types of protobuf fields: those that a column may have, and those of a read that names no columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from millrace_formats.shared.sql_types import sql_name

UNSIGNED_64 = pa.decimal128(20, 0)
"""The only SQL type that holds every unsigned number of 64 bits."""

TIMESTAMP = "google.protobuf.Timestamp"

WRAPPERS = {
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}

_COLUMN_TYPES: dict[int, tuple[pa.DataType, ...]] = {
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
"""The column types of each kind of scalar field; the first holds all of its values."""


def column_types(proto: FieldDescriptor) -> str:
    """Return the SQL types that a column of a field may have."""
    if is_map(proto):
        key, value = map_entry(proto)
        return f"MAP<{_single_types(key)}, {_single_types(value)}>"
    return f"ARRAY<{_single_types(proto)}>" if proto.is_repeated else _single_types(proto)


def is_map(proto: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return proto.message_type is not None and proto.message_type.GetOptions().map_entry


def map_entry(proto: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Return the fields of a map's key and of its value."""
    fields = proto.message_type.fields_by_name
    return fields["key"], fields["value"]


def scalar_types(proto: FieldDescriptor) -> tuple[pa.DataType, ...]:
    """Return the column types of a scalar field; the first holds all of its values."""
    return _COLUMN_TYPES[proto.type]


def _single_types(proto: FieldDescriptor) -> str:
    message = proto.message_type
    if message is None:
        return " or ".join(map(sql_name, _COLUMN_TYPES[proto.type]))
    if message.full_name == TIMESTAMP:
        return "TIMESTAMP or STRUCT<seconds: BIGINT, nanos: INT>"
    if message.full_name in WRAPPERS:
        inner = _single_types(message.fields_by_name["value"])
        return f"{inner} or STRUCT<value: {inner}>"
    return f"STRUCT<...> with fields of {message.full_name}"


def proto_type(proto: FieldDescriptor) -> str:
    """Return the type of a field as in a proto file."""
    if is_map(proto):
        key, value = map_entry(proto)
        return f"map<{proto_type(key)}, {proto_type(value)}>"
    named: Any = proto.message_type or proto.enum_type
    keyword = FieldDescriptorProto.Type.Name(proto.type).removeprefix("TYPE_").lower()
    kind = named.full_name if named is not None else keyword
    return f"repeated {kind}" if proto.is_repeated else str(kind)


def default_schema(message: Descriptor) -> pa.Schema | None:
    """Return a column for each field, of the type that holds all of its values; None when the type contains itself."""
    try:
        return pa.schema([_column(field, (message.full_name,)) for field in message.fields])
    except RecursionError:
        return None


def _column(proto: FieldDescriptor, outer: tuple[str, ...]) -> pa.Field:
    if is_map(proto):
        key, value = map_entry(proto)
        return pa.field(proto.name, pa.map_(scalar_types(key)[0], pa.field("value", _single(value, outer), False)))
    type_ = _single(proto, outer)
    return pa.field(proto.name, pa.list_(pa.field("element", type_, False)) if proto.is_repeated else type_)


def _single(proto: FieldDescriptor, outer: tuple[str, ...]) -> pa.DataType:
    message = proto.message_type
    if message is None:
        return scalar_types(proto)[0]
    if message.full_name == TIMESTAMP:
        return pa.timestamp("us", "UTC")
    if message.full_name in WRAPPERS:
        return scalar_types(message.fields_by_name["value"])[0]
    if message.full_name in outer:
        raise RecursionError(message.full_name)
    return pa.struct([_column(field, (*outer, message.full_name)) for field in message.fields])
