"""The protobuf-confluent format: messages whose schema a registry has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import Decoder, Encoder
from millrace_formats.protobuf.descriptors.library import check_library
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.registry.client import check_client_installed
from millrace_formats.registry.format import RegistryFormat
from millrace_formats.registry.subjects import SubjectName

if TYPE_CHECKING:
    from millrace_formats.protobuf.registry.codec import ProtobufRegistryCodec

_NAME = "protobuf-confluent"


class ProtobufConfluentFormat(RegistryFormat):
    """One protobuf message a Kafka message, behind a frame that names its schema and its type there.

    A message is read by the schema that it was written with, its fields matched to columns by name. A write uses the
    latest schema of the subject; fields for columns that it lacks are added, and registered.
    """

    Options = ProtobufRegistryOptions
    options: ProtobufRegistryOptions
    name = _NAME

    @classmethod
    def check_requirements(cls) -> None:
        """Check that the registry's client, protobuf and protoc are installed: see `Plugin.check_requirements`."""
        check_client_installed(_NAME)
        check_library()
        from millrace_formats.protobuf.registry.compiler import check_compiler

        check_compiler()

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        return self._codec().decoder(schema)

    @property
    def _record(self) -> str | None:
        return self.options.message_name

    def _encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        return self._codec().encoder(schema, subject)

    def _columns(self, subject: str) -> pa.Schema | None:
        return self._codec().columns(subject)

    def _codec(self) -> ProtobufRegistryCodec:
        check_client_installed(_NAME)
        check_library()
        from millrace_formats.protobuf.registry.codec import ProtobufRegistryCodec

        return ProtobufRegistryCodec(_NAME, self.options)
