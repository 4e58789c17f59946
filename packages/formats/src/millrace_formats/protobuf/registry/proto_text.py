"""Write descriptors as the text of a proto file, which every registry can compare with other versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.text_format import MessageToString

from millrace.errors import SchemaError
from millrace_formats.protobuf.registry.compiler import compile_text

_OWN_SYNTAX = {"map_entry"}


class ProtoText(NamedTuple):
    """The text of a file, and the descriptor that it is compiled to."""

    text: str
    file: FileDescriptorProto


def proto_text(file: FileDescriptorProto, imports: Sequence[FileDescriptorProto]) -> ProtoText:
    """Return the text of a file.

    Args:
        file: The file.
        imports: The files that it imports, each after its own imports.

    Raises:
        SchemaError: It holds something that this cannot write, such as options of others, services or groups.
        MachineError: There is no compiler to check the text with.
    """
    text = "\n".join(_file_lines(file)) + "\n"
    try:
        written = compile_text({file.name: text}, imports)[-1]
    except ValueError as error:
        raise SchemaError(_refusal(str(error))) from None
    if _comparable(written) != _comparable(file):
        raise SchemaError(_refusal("it holds options of its own, extensions, services or groups"))
    return ProtoText(text, written)


def _refusal(reason: str) -> str:
    return (
        f"fields for the columns cannot be added to the latest schema of the subject: {reason}. Register a schema with "
        f"them, or give one by option 'schema'"
    )


def _comparable(file: FileDescriptorProto) -> bytes:
    """Return bytes by which files compare equal, regardless of how they were created."""
    copy = FileDescriptorProto()
    copy.CopyFrom(file)
    copy.ClearField("source_code_info")
    copy.syntax = copy.syntax or "proto2"
    for message in copy.message_type:
        _normalize(message)
    return copy.SerializeToString(deterministic=True)


def _normalize(message: DescriptorProto) -> None:
    """Order the parts of a message type whose order means nothing, and name the oneofs of fields."""
    for field in message.field:
        # Its own name says nothing new
        field.json_name = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
        field.ClearField("oneof_index")
    message.ClearField("oneof_decl")
    message.field.sort(key=lambda field: field.number)
    message.nested_type.sort(key=lambda nested: nested.name)
    for nested in message.nested_type:
        _normalize(nested)


def _file_lines(file: FileDescriptorProto) -> Iterator[str]:
    yield f'syntax = "{file.syntax or "proto2"}";'
    if file.package:
        yield f"package {file.package};"
    for index, name in enumerate(file.dependency):
        kind = "public " if index in file.public_dependency else "weak " if index in file.weak_dependency else ""
        yield f'import {kind}"{name}";'
    yield from (f"option {option};" for option in _options(file.options))
    for enum in file.enum_type:
        yield from _enum_lines(enum, "")
    for message in file.message_type:
        yield from _message_lines(message, "", file.syntax == "proto3")


def _message_lines(message: DescriptorProto, indent: str, is_proto3: bool) -> Iterator[str]:
    yield f"{indent}message {message.name} {{"
    inner = f"{indent}  "
    yield from (f"{inner}option {option};" for option in _options(message.options))
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    for enum in message.enum_type:
        yield from _enum_lines(enum, inner)
    for nested in message.nested_type:
        if nested.name not in entries:
            yield from _message_lines(nested, inner, is_proto3)
    for field in message.field:
        if not _is_member(field):
            label = "" if _is_map(field, entries) else _label(field, is_proto3)
            yield f"{inner}{label}{_field(field, entries)}"
            continue
        members = [member for member in message.field if _is_member(member) and member.oneof_index == field.oneof_index]
        if field == members[0]:
            yield f"{inner}oneof {message.oneof_decl[field.oneof_index].name} {{"
            yield from (f"{inner}  {_field(member, entries)}" for member in members)
            yield f"{inner}}}"
    yield from _reserved_lines(message, inner, 1)
    yield f"{indent}}}"


def _enum_lines(enum: EnumDescriptorProto, indent: str) -> Iterator[str]:
    yield f"{indent}enum {enum.name} {{"
    yield from (f"{indent}  option {option};" for option in _options(enum.options))
    for value in enum.value:
        yield f"{indent}  {value.name} = {value.number}{_bracketed(_options(value.options))};"
    yield from _reserved_lines(enum, f"{indent}  ", 0)
    yield f"{indent}}}"


def _reserved_lines(type_: Any, indent: str, excluded: int) -> Iterator[str]:
    # The end of a message's range is excluded, that of an enum's is not
    yield from (f"{indent}reserved {range_.start} to {range_.end - excluded};" for range_ in type_.reserved_range)
    yield from (f'{indent}reserved "{name}";' for name in type_.reserved_name)


def _is_member(field: FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _label(field: FieldDescriptorProto, is_proto3: bool) -> str:
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return "repeated "
    if field.label == FieldDescriptorProto.LABEL_REQUIRED:
        return "required "
    return "optional " if field.proto3_optional or not is_proto3 else ""


def _field(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
    options = _options(field.options)
    if field.HasField("default_value"):
        is_text = field.type in (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)
        quoted = '"' + field.default_value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        options.append(f"default = {quoted if is_text else field.default_value}")
    return f"{_type(field, entries)} {field.name} = {field.number}{_bracketed(options)};"


def _type(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
    if _is_map(field, entries):
        entry = entries[_simple_name(field)]
        return f"map<{_type(entry.field[0], {})}, {_type(entry.field[1], {})}>"
    return field.type_name or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def _is_map(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> bool:
    return field.label == FieldDescriptorProto.LABEL_REPEATED and _simple_name(field) in entries


def _simple_name(field: FieldDescriptorProto) -> str:
    return field.type_name.rpartition(".")[2]


def _options(options: Any) -> list[str]:
    text = MessageToString(options, as_one_line=False, print_unknown_fields=False)
    lines = [line for line in text.splitlines() if line.partition(":")[0] not in _OWN_SYNTAX]
    return [line.replace(": ", " = ", 1) for line in lines if ": " in line and not line.startswith(" ")]


def _bracketed(options: Sequence[str]) -> str:
    return f" [{', '.join(options)}]" if options else ""
