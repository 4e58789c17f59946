"""Derive a proto file from columns, or add the columns that a subject's latest file lacks.

Fields are known by their numbers on the wire, so that a derived file builds on the latest one: fields keep their
numbers, new ones get numbers that were never used, and fields without a column stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from millrace_formats.protobuf.registry.known_files import known_file
from millrace_formats.protobuf.registry.schemas import ProtobufSchema
from millrace_formats.protobuf.schema.types import UNSIGNED_64
from millrace_formats.shared.sql_types import check_schema, is_instant, nested_problem, sql_name

MESSAGE_NAME = "Record"
_FILE_NAME = "record.proto"
_TIMESTAMP = ".google.protobuf.Timestamp"
_TIMESTAMP_FILE = "google/protobuf/timestamp.proto"
_RESERVED = range(19_000, 20_000)

_SCALARS = {
    pa.bool_(): FieldDescriptorProto.TYPE_BOOL,
    pa.int32(): FieldDescriptorProto.TYPE_INT32,
    pa.int64(): FieldDescriptorProto.TYPE_INT64,
    UNSIGNED_64: FieldDescriptorProto.TYPE_UINT64,
    pa.float32(): FieldDescriptorProto.TYPE_FLOAT,
    pa.float64(): FieldDescriptorProto.TYPE_DOUBLE,
    pa.string(): FieldDescriptorProto.TYPE_STRING,
    pa.binary(): FieldDescriptorProto.TYPE_BYTES,
}
_NO_KEYS = (pa.float32(), pa.float64(), pa.binary())
_INSTEAD = {pa.int8(): "INT", pa.int16(): "INT", pa.timestamp("us"): "TIMESTAMP"}


def check_columns(format_name: str, schema: pa.Schema) -> None:
    """Refuse columns that no protobuf field can be.

    Raises:
        SchemaError: Names every such column, with its type and what to cast it to.
    """
    check_schema(format_name, schema, _column_problem)


def derive_file(columns: Sequence[pa.Field]) -> FileDescriptorProto:
    """Derive a file with one message type, whose fields are numbered in the order of the columns."""
    file = FileDescriptorProto(name=_FILE_NAME, syntax="proto3")
    _add_fields(file, file.message_type.add(name=MESSAGE_NAME), f".{MESSAGE_NAME}", columns)
    return file


def extend_file(schema: ProtobufSchema, path: Sequence[int], columns: Sequence[pa.Field]) -> FileDescriptorProto | None:
    """Return a file with fields for the columns that its message type lacks; None when it lacks none.

    Args:
        schema: The file.
        path: The path of indexes of the message type.
        columns: The columns.

    Raises:
        SchemaError: Fields would have to be added to a type of an imported file.
    """
    file = FileDescriptorProto()
    file.CopyFrom(schema.file)
    extended = ProtobufSchema((file,))
    messages = {name: message for name, _, message in extended.messages()}
    (name,) = (full_name for full_name, indexes, _ in extended.messages() if indexes == tuple(path))
    return file if _extend(file, name, columns, messages) else None


def _extend(
    file: FileDescriptorProto, name: str, columns: Sequence[pa.Field], messages: dict[str, DescriptorProto]
) -> bool:
    """Add fields to a message type of a file, and to those that its fields are; return whether there were any."""
    message = messages[name]
    fields = {field.name: field for field in message.field}
    new = [column for column in columns if column.name not in fields]
    _add_fields(file, message, f".{name}", new)
    is_extended = bool(new)
    for column in columns:
        inner = _struct_within(column.type)
        if inner is not None and column.name in fields:
            inner_name = _message_within(message, fields[column.name])
            if inner_name in messages:
                is_extended |= _extend(file, inner_name, list(inner), messages)
    return is_extended


def _message_within(message: DescriptorProto, field: FieldDescriptorProto) -> str:
    """Return the full name of the message type that a field is, or that its elements or values are."""
    simple_name = field.type_name.rpartition(".")[2]
    for nested in message.nested_type:
        if nested.options.map_entry and nested.name == simple_name:
            return nested.field[1].type_name.removeprefix(".")
    return field.type_name.removeprefix(".")


def _struct_within(type_: pa.DataType) -> pa.StructType | None:
    """Return the struct that a column's type is, or that its elements or values are."""
    if pt.is_list(type_):
        type_ = type_.value_type
    elif pt.is_map(type_):
        type_ = type_.item_type
    return type_ if pt.is_struct(type_) else None


def _add_fields(
    file: FileDescriptorProto, message: DescriptorProto, full_name: str, columns: Sequence[pa.Field]
) -> None:
    used = [field.number for field in message.field]
    # The end of a range is excluded
    used += [range_.end - 1 for range_ in (*message.reserved_range, *message.extension_range)]
    number = max(used, default=0)
    for column in columns:
        number += 1
        if number in _RESERVED:
            number = _RESERVED.stop
        _add_field(file, message, full_name, column, number)


def _add_field(
    file: FileDescriptorProto, message: DescriptorProto, full_name: str, column: pa.Field, number: int
) -> None:
    type_ = column.type
    field = message.field.add(name=column.name, number=number)
    if pt.is_map(type_):
        # The type of the values is nested in the message, since an entry holds nothing but two fields
        value = FieldDescriptorProto(name="value", number=2, label=FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(value, file, message, full_name, column.name, type_.item_type)
        entry = message.nested_type.add(name=f"{_camel_case(column.name)}Entry")
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1, label=FieldDescriptorProto.LABEL_OPTIONAL)
        key.type = _SCALARS[type_.key_type]
        entry.field.append(value)
        field.label, field.type = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f"{full_name}.{entry.name}"
        return
    if pt.is_list(type_):
        field.label = FieldDescriptorProto.LABEL_REPEATED
        _set_type(field, file, message, full_name, column.name, type_.value_type)
        return
    field.label = FieldDescriptorProto.LABEL_OPTIONAL
    _set_type(field, file, message, full_name, column.name, type_)
    if column.nullable and type_ in _SCALARS and file.syntax == "proto3":
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{column.name}")


def _set_type(
    field: FieldDescriptorProto,
    file: FileDescriptorProto,
    message: DescriptorProto,
    full_name: str,
    name: str,
    type_: pa.DataType,
) -> None:
    if type_ in _SCALARS:
        field.type = _SCALARS[type_]
        return
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    if is_instant(type_):
        field.type_name = _TIMESTAMP
        if _TIMESTAMP_FILE not in file.dependency:
            file.dependency.append(_TIMESTAMP_FILE)
        return
    nested = message.nested_type.add(name=_type_name(message, name))
    field.type_name = f"{full_name}.{nested.name}"
    _add_fields(file, nested, field.type_name, list(type_))


def _type_name(message: DescriptorProto, field: str) -> str:
    """Return a name for the type of a field that no type within the message has."""
    name = _camel_case(field)
    taken = {message.name, *(nested.name for nested in message.nested_type), *(enum.name for enum in message.enum_type)}
    while name in taken or name.endswith("Entry"):
        name += "_"
    return name


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _column_problem(path: str, type_: pa.DataType) -> str | None:
    return _name_problem(path, path) or nested_problem(path, type_) or _type_problem(path, type_)


def _name_problem(path: str, name: str) -> str | None:
    is_valid = name.isascii() and name.isidentifier()
    return (
        None if is_valid else f"column {path} has a name that is not valid in protobuf: use letters, digits and _ only"
    )


def _type_problem(path: str, type_: pa.DataType) -> str | None:
    if pt.is_map(type_):
        if type_.key_type not in _SCALARS or type_.key_type in _NO_KEYS:
            return f"column {path} is {sql_name(type_)}: keys must be STRING, INT, BIGINT or BOOLEAN"
        return _single_problem(f"{path}.value", type_.item_type)
    if pt.is_list(type_):
        return _single_problem(f"{path}.element", type_.value_type)
    return _single_problem(path, type_)


def _single_problem(path: str, type_: pa.DataType) -> str | None:
    if pt.is_struct(type_):
        if not type_.num_fields:
            return f"column {path} is STRUCT<>, which has no fields"
        problems = (
            _name_problem(f"{path}.{field.name}", field.name) or _type_problem(f"{path}.{field.name}", field.type)
            for field in type_
        )
        return next(filter(None, problems), None)
    if pt.is_list(type_) or pt.is_map(type_):
        return f"column {path} is {sql_name(type_)} within an ARRAY or MAP: put it into a STRUCT"
    if type_ in _SCALARS or is_instant(type_):
        return None
    instead = _INSTEAD.get(type_, "STRING")
    return f"column {path} is {sql_name(type_)}, which protobuf has no type for: cast it to {instead}"


def imports_of(file: FileDescriptorProto) -> list[FileDescriptorProto]:
    """Return the files that a derived file imports."""
    return [imported for name in file.dependency if (imported := known_file(name)) is not None]
