"""The options of the protobuf format, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options import option
from millrace_formats.protobuf.descriptors.descriptor_file import of_file
from millrace_formats.protobuf.descriptors.descriptor_set import DescriptorSet
from millrace_formats.protobuf.descriptors.generated_class import of_class


def parse_file(name: str) -> DescriptorSet:
    """A descriptor set file, which is read together with the message type's name."""
    return DescriptorSet(name)


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
        doc="A file of descriptors, made by protoc --include_imports --descriptor_set_out or buf build (an addition). "
        "The driver reads it; executors get its content.",
    )
    ignore_parse_errors: bool = option(
        "ignore-parse-errors", default=False, skips_malformed=True, doc="Skip messages that cannot be decoded."
    )
    read_default_values: bool = option(
        "read-default-values",
        default=False,
        doc="Read what a message lacks as the default of its field, an empty ARRAY, MAP or row of defaults, instead of "
        "as NULL. Without it a field that has no presence, as most of proto3, is read as its default too.",
    )
    write_null_string_literal: str = option(
        "write-null-string-literal",
        default="",
        doc="What is written for a NULL STRING in an ARRAY or MAP; of other types it is 0, false, empty, or the "
        "enum's first value.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "descriptor_set", self._descriptors())

    def _descriptors(self) -> DescriptorSet:
        """The descriptors of the message type alone, which is all that executors need."""
        if self.descriptor_set is None:
            return of_class(self.message_class_name)
        if self.descriptor_set.message is None:
            return of_file(self.descriptor_set.origin, self.message_class_name)
        return self.descriptor_set
