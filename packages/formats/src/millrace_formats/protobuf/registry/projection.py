"""Read messages of any version of a schema into the same columns.

A column is read from the field of its name that the messages' own version has: a column without a field is NULL, and
numbers of a narrower type are widened, as are text and bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace.errors import MalformedMessageError, SchemaError
from millrace_formats.protobuf.options import MessageOptions
from millrace_formats.protobuf.reader.decoder import ProtobufDecoder
from millrace_formats.protobuf.reader.parser import MessageParser
from millrace_formats.protobuf.schema.types import UNSIGNED_64, WRAPPERS, is_map, map_entry, scalar_types
from millrace_formats.shared.column_texts import without_offset

_WIDER = {
    pa.int32(): (pa.int64(), UNSIGNED_64),
    pa.int64(): (UNSIGNED_64,),
    pa.float32(): (pa.float64(),),
    pa.string(): (pa.binary(),),
}
"""The column types that hold all values of a narrower one."""


class ProjectingDecoder(Decoder):
    """Decode messages of one type to rows, whose columns it may lack.

    Args:
        schema: The columns.
        message_class: The class of the messages.
        options: How to read them.

    Raises:
        SchemaError: A column is NOT NULL and has no field, or a field of another type.
    """

    def __init__(self, schema: pa.Schema, message_class: Any, options: MessageOptions) -> None:
        self._schema = schema
        fields = _project(list(schema), message_class.DESCRIPTOR, "")
        self._is_same = fields == list(schema)
        self._decoder = (
            ProtobufDecoder(schema if self._is_same else pa.schema(fields), message_class, options)
            if fields
            else _NothingDecoder(message_class)
        )

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch, one row a message."""
        decoded = self._decoder.decode(payloads)
        if self._is_same:
            return decoded
        columns = _widen_fields(decoded.rows.schema, decoded.rows.columns, list(self._schema), decoded.rows.num_rows)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return Decoded(rows, decoded.message_index, errors=decoded.errors)


class _NothingDecoder(Decoder):
    """Check messages that have none of the columns."""

    def __init__(self, message_class: Any) -> None:
        self._parser = MessageParser(message_class)

    def decode(self, payloads: Payloads) -> Decoded:
        errors, index = [], []
        for number, payload in enumerate(payloads.to_list()):
            try:
                self._parser.parse(payload or b"")
            except MalformedMessageError as error:
                errors.append(MalformedMessage(number, str(error)))
            else:
                index.append(number)
        rows = pa.RecordBatch.from_struct_array(pa.array([{}] * len(index), pa.struct([])))
        return Decoded(rows, pa.array(index, pa.int32()), errors=tuple(errors))


def _project(columns: Sequence[pa.Field], message: Descriptor, path: str) -> list[pa.Field]:
    """Return the columns that a message has, with the types that they are read as."""
    readable = []
    for column in columns:
        proto = message.fields_by_name.get(column.name)
        type_ = None if proto is None else _readable(proto, column.type, f"{path}{column.name}")
        if type_ is not None:
            readable.append(column.with_type(type_))
        elif not column.nullable:
            raise SchemaError(f"message {message.full_name} has no field {column.name!r}, which is NOT NULL")
    return readable


def _readable(proto: FieldDescriptor, wanted: pa.DataType, path: str) -> pa.DataType | None:
    """Return the type that a column is read as; None when none of its fields is there."""
    if is_map(proto):
        if not pt.is_map(wanted):
            return wanted
        key, value = map_entry(proto)
        item = _readable_single(value, wanted.item_type, f"{path}.value")
        key_type = _narrower(key, wanted.key_type)
        return None if item is None else pa.map_(key_type, wanted.item_field.with_type(item))
    if not proto.is_repeated:
        return _readable_single(proto, wanted, path)
    if not pt.is_list(wanted):
        return wanted
    element = _readable_single(proto, wanted.value_type, f"{path}.element")
    return None if element is None else pa.list_(wanted.value_field.with_type(element))


def _readable_single(proto: FieldDescriptor, wanted: pa.DataType, path: str) -> pa.DataType | None:
    message = proto.message_type
    if message is None:
        return _narrower(proto, wanted)
    if not pt.is_struct(wanted):
        is_wrapper = message.full_name in WRAPPERS
        return _narrower(message.fields_by_name["value"], wanted) if is_wrapper else wanted
    fields = _project(list(wanted), message, f"{path}.")
    return pa.struct(fields) if fields else None


def _narrower(proto: FieldDescriptor, wanted: pa.DataType) -> pa.DataType:
    """Return a type of a scalar field that a column's type holds; the column's own where there is none."""
    types = scalar_types(proto)
    if wanted in types:
        return wanted
    return next((type_ for type_ in types if wanted in _WIDER.get(type_, ())), wanted)


def _widen_fields(
    schema: pa.Schema | pa.StructType, arrays: Sequence[pa.Array], wanted: Sequence[pa.Field], count: int
) -> list[pa.Array]:
    by_name = dict(zip([field.name for field in schema], arrays, strict=True))
    return [
        _widen(by_name[field.name], field.type) if field.name in by_name else pa.nulls(count, field.type)
        for field in wanted
    ]


def _widen(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    if array.type == wanted:
        return array
    if not pt.is_nested(wanted):
        return array.cast(wanted)
    array = without_offset(array)
    mask = array.is_null() if array.null_count else None
    if pt.is_struct(wanted):
        inner = [array.field(index) for index in range(array.type.num_fields)]
        columns = _widen_fields(array.type, inner, list(wanted), len(array))
        return pa.StructArray.from_arrays(columns, fields=list(wanted), mask=mask)
    if pt.is_map(wanted):
        keys, items = _widen(array.keys, wanted.key_type), _widen(array.items, wanted.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=mask)
    return pa.ListArray.from_arrays(array.offsets, _widen(array.values, wanted.value_type), type=wanted, mask=mask)
