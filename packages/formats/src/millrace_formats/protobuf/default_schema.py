"""The columns of a message type, for reads that name none."""

from __future__ import annotations

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from millrace_formats.protobuf.shape import TIMESTAMP, WRAPPERS, is_map, scalar_types


def default_schema(message: Descriptor) -> pa.Schema | None:
    """A column for each field, of the type that holds all of its values; None when the message holds itself."""
    try:
        return pa.schema([_column(field, (message.full_name,)) for field in message.fields])
    except RecursionError:
        return None


def _column(proto: FieldDescriptor, outer: tuple[str, ...]) -> pa.Field:
    if is_map(proto):
        key, value = proto.message_type.fields_by_name["key"], proto.message_type.fields_by_name["value"]
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
