"""Descriptors of a message type, sent to executors so that they need neither its file nor its generated class."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto


@dataclass(frozen=True)
class DescriptorSet:
    """Serialized descriptors of protobuf files.

    Attributes:
        origin: The file or class that they come from.
        files: A serialized FileDescriptorSet, in which files stand after those that they import.
        message: The full name of the message type that they describe; None before it was looked up.
    """

    origin: str
    files: bytes = field(default=b"", repr=False)
    message: str | None = None


def make_descriptor_set(origin: str, files: Iterable[FileDescriptorProto], message: str) -> DescriptorSet:
    """Make the descriptor set of a message type, and check that it is valid.

    Args:
        origin: The file or class that the descriptors come from.
        files: The file with the message type and all that it imports, each after its own imports.
        message: The message type's full name.

    Raises:
        ValueError: The files are not valid.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    for file in files:
        file.ClearField("source_code_info")
    serialized = FileDescriptorSet(file=files).SerializeToString(deterministic=True)
    descriptors = DescriptorSet(origin, serialized, message)
    try:
        load_message_class(descriptors)
    except (TypeError, KeyError) as error:
        raise ValueError(f"descriptors of {origin!r} are not valid: {error}") from None
    return descriptors


@functools.lru_cache(maxsize=32)
def load_message_class(descriptors: DescriptorSet) -> Any:
    """Make the Python class of the message type, in a descriptor pool of its own.

    Raises:
        TypeError: A file is not valid.
        KeyError: The message type is not in the files.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptors.files).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(descriptors.message))
