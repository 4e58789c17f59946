"""The options of the protobuf format, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from millrace.options import option
from millrace_formats.protobuf.descriptors.descriptor_file import descriptors_from_file
from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet
from millrace_formats.protobuf.descriptors.generated_class import descriptors_of_class


def parse_file(name: str) -> DescriptorSet:
    """Take the name of a descriptor set file; it is read together with the message type's name."""
    return DescriptorSet(name)


class MessageOptions(Protocol):
    """Options of messages that both formats of protobuf have."""

    @property
    def ignore_parse_errors(self) -> bool:
        """True when messages that cannot be decoded are skipped."""

    @property
    def read_default_values(self) -> bool:
        """True when a field that a message lacks is read as its default."""

    @property
    def write_null_string_literal(self) -> str:
        """The text to write for a NULL STRING in an ARRAY or MAP."""


@dataclass(frozen=True)
class ProtobufOptions:
    """The options of protobuf."""

    message_class_name: str = option(
        "message-class-name",
        doc="The message type: a Python class that protoc has generated, as module:Message or module.Message, or with "
        "descriptor-set the full name of a message in that file.",
    )
    descriptor_set: DescriptorSet | None = option(
        "descriptor-set",
        default=None,
        parse=parse_file,
        doc="A file descriptor set, created by protoc --include_imports --descriptor_set_out or buf build (an "
        "addition). The driver reads the file and sends its content to the executors.",
    )
    ignore_parse_errors: bool = option(
        "ignore-parse-errors", default=False, skips_malformed=True, doc="Skip messages that cannot be decoded."
    )
    read_default_values: bool = option(
        "read-default-values",
        default=False,
        doc="Read missing fields as their default values, or as an empty ARRAY, an empty MAP or a row of defaults, "
        "instead of NULL. Fields without presence, such as most of proto3, are always read as their defaults.",
    )
    write_null_string_literal: str = option(
        "write-null-string-literal",
        default="",
        doc="The text to write for a NULL STRING in an ARRAY or MAP. Other types are written as 0, false, empty, or "
        "the first value of the enum.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "descriptor_set", self._descriptors())

    def _descriptors(self) -> DescriptorSet:
        """Return the descriptors of the message type, all that executors need."""
        if self.descriptor_set is None:
            return descriptors_of_class(self.message_class_name)
        if self.descriptor_set.message is None:
            return descriptors_from_file(self.descriptor_set.origin, self.message_class_name)
        return self.descriptor_set
