"""The protobuf format."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.protobuf.descriptors.descriptor_set import load_message_class
from millrace_formats.protobuf.descriptors.library import check_library
from millrace_formats.protobuf.options import ProtobufOptions


class ProtobufFormat(Format):
    """Read and write one protobuf message a Kafka message, its fields matched to columns by their exact names.

    `millrace_formats.protobuf.schema.types` has the types of columns, `millrace_formats.protobuf.reader.exact_reader`
    and `millrace_formats.protobuf.writer.encoder` the conversions.
    """

    Options = ProtobufOptions
    options: ProtobufOptions

    @classmethod
    def check_requirements(cls) -> None:
        """Check that protobuf's library is installed: see `Plugin.check_requirements`."""
        check_library()

    def default_schema(self) -> pa.Schema | None:
        """Return a column for each field of the message type; None when the type contains itself."""
        descriptor = self._message_class().DESCRIPTOR
        from millrace_formats.protobuf.schema.types import default_schema

        return default_schema(descriptor)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``.

        Raises:
            SchemaError: A column is not in the message type, or of another type.
            MachineError: Protobuf's library is missing.
        """
        message_class = self._message_class()
        from millrace_formats.protobuf.reader.decoder import ProtobufDecoder

        return ProtobufDecoder(schema, message_class, self.options)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; raises as `decoder`, and when a required field has no column."""
        message_class = self._message_class()
        from millrace_formats.protobuf.writer.encoder import ProtobufEncoder

        return ProtobufEncoder(schema, message_class, self.options)

    def _message_class(self) -> Any:
        check_library()
        assert self.options.descriptor_set is not None  # noqa: S101 - the options fill it in
        return load_message_class(self.options.descriptor_set)
