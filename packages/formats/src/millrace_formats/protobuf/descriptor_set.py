"""The descriptors of a message type, as they travel, so that executors need neither its file nor its class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto


@dataclass(frozen=True)
class DescriptorSet:
    """Descriptors of protobuf files.

    Attributes:
        origin: The file or class that they come from.
        files: A serialized FileDescriptorSet, in which files stand after those that they import.
        message: The full name of the message type that they are for; None before they were looked up.
    """

    origin: str
    files: bytes = field(default=b"", repr=False)
    message: str | None = None


def descriptor_set_of(origin: str, files: Iterable[FileDescriptorProto], message: str) -> DescriptorSet:
    """The set of some files for a message type.

    Args:
        origin: The file or class that they come from.
        files: The file with the message type and all that it imports, each after its own imports.
        message: The message type's full name.

    Raises:
        ValueError: The files are not valid.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    from millrace_formats.protobuf.message_type import message_type

    for file in files:
        file.ClearField("source_code_info")
    found = DescriptorSet(origin, FileDescriptorSet(file=files).SerializeToString(deterministic=True), message)
    try:
        message_type(found)
    except (TypeError, KeyError) as error:
        raise ValueError(f"descriptors of {origin!r} are not valid: {error}") from None
    return found
