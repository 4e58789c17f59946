"""The options of protobuf behind a schema registry."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options import option
from millrace_formats.registry.options import RegistryOptions


@dataclass(frozen=True, kw_only=True)
class ProtobufRegistryOptions(RegistryOptions):
    """Options of protobuf-confluent."""

    schema: str | None = option(
        "schema",
        default=None,
        doc="Proto file to read and write by, as text; by default each message is read by its own schema, and a write "
        "uses the latest schema of the subject, with fields added for columns that it lacks.",
    )
    message_name: str | None = option(
        "message-name",
        default=None,
        doc="Full name of the message type in the schema, such as shop.Order; by default the first one.",
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
        doc="The text to write for a NULL STRING in an ARRAY or MAP; for other types it is 0, false, empty, or the "
        "enum's first value.",
    )

    @property
    def ignore_parse_errors(self) -> bool:
        """Malformed messages are the policy's business, since a frame is malformed before any message is parsed."""
        return False
