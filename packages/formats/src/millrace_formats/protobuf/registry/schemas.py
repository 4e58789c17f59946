"""The protobuf schemas of a schema registry, as descriptors."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet, load_message_class
from millrace_formats.protobuf.registry.compiler import compile_text
from millrace_formats.protobuf.registry.known_files import known_file
from millrace_formats.registry.client import registry_client
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.registry.schema_registry import SchemaRegistry, SchemaText

_MAIN = "schema.proto"


@dataclass(frozen=True, eq=False)
class ProtobufSchema:
    """A file of message types.

    Attributes:
        files: The file, after all that it imports.
    """

    files: tuple[FileDescriptorProto, ...]

    @property
    def file(self) -> FileDescriptorProto:
        """The file."""
        return self.files[-1]

    def messages(self) -> Iterator[tuple[str, tuple[int, ...], DescriptorProto]]:
        """Yield for each message type of the file its full name, its path of indexes and its descriptor."""
        package = f"{self.file.package}." if self.file.package else ""
        yield from _messages(self.file.message_type, package, ())

    def path_of(self, name: str | None) -> tuple[int, ...]:
        """Return the path of a message type of the file, by default of the first; ValueError when there is none."""
        names = []
        for full_name, path, _ in self.messages():
            if name is None or full_name == name.removeprefix("."):
                return path
            names.append(full_name)
        raise ValueError(f"it has no message {name!r}, but {', '.join(names)}" if names else "it has no messages")

    def message_class(self, path: Sequence[int]) -> Any:
        """Return the class of a message type; ValueError when there is none at the path."""
        for name, indexes, _ in self.messages():
            if indexes == tuple(path):
                return load_message_class(DescriptorSet("", self._serialized, name))
        raise ValueError(f"it has no message with the indexes {list(path)}")

    @functools.cached_property
    def _serialized(self) -> bytes:
        return FileDescriptorSet(file=self.files).SerializeToString(deterministic=True)


def _messages(
    types: Any, prefix: str, outer: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], DescriptorProto]]:
    for index, message in enumerate(types):
        if not message.options.map_entry:
            name = f"{prefix}{message.name}"
            yield name, (*outer, index), message
            yield from _messages(message.nested_type, f"{name}.", (*outer, index))


@functools.lru_cache(maxsize=16)
def protobuf_registry(format_name: str, options: RegistryOptions) -> SchemaRegistry[ProtobufSchema]:
    """Return this process's registry for some options.

    Raises:
        OptionsError: The options cannot be used.
    """
    # A registry that knows this format answers with a descriptor, others with the text as it was registered
    return SchemaRegistry(registry_client(format_name, options), "PROTOBUF", parse_schema, "serialized")


def parse_schema(schema: SchemaText) -> ProtobufSchema:
    """Parse a schema, the text of a proto file or the base64 of its descriptor, as each of its references is.

    Raises:
        ValueError: It is not valid.
        MachineError: The compiler of texts is missing.
    """
    texts = {reference.name: reference.text for reference in schema.references}
    name = _MAIN
    while name in texts:
        name = f"_{name}"
    texts[name] = schema.text
    files = {file_name: descriptor for file_name, text in texts.items() if (descriptor := _descriptor(file_name, text))}
    if len(files) < len(texts):
        uncompiled = {file_name: text for file_name, text in texts.items() if file_name not in files}
        files |= {file.name: file for file in compile_text(uncompiled, _with_imports(files, list(files)))}
    parsed = ProtobufSchema(tuple(_with_imports(files, [name])))
    path = parsed.path_of(None)
    try:
        parsed.message_class(path)
    except (TypeError, KeyError) as error:
        raise ValueError(str(error)) from None
    return parsed


def _descriptor(name: str, text: str) -> FileDescriptorProto | None:
    """Return the descriptor that a schema is; None when it is text."""
    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return None
    file.name = name
    file.ClearField("source_code_info")
    return file


def _with_imports(files: dict[str, FileDescriptorProto], names: Sequence[str]) -> list[FileDescriptorProto]:
    """Return some files, each after its imports."""
    ordered: dict[str, FileDescriptorProto | None] = {}

    def add(name: str, importer: str | None) -> None:
        if name in ordered:
            return
        ordered[name] = None  # a file that imports itself is refused by the descriptor pool
        file = files.get(name) or known_file(name)
        if file is None:
            raise ValueError(f"{importer} imports {name!r}, which is not among its references")
        for imported in file.dependency:
            add(imported, name)
        ordered[name] = ordered.pop(name) or file

    for name in names:
        add(name, None)
    return [file for file in ordered.values() if file is not None]
