"""The protobuf format: what it can carry, and its decoder and encoder."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.protobuf.library import check_library
from millrace_formats.protobuf.options import ProtobufOptions


class ProtobufFormat(Format):
    """One protobuf message a message, its fields matched by their exact names.

    Conversions are stated in `millrace_formats.protobuf.exact_reader` and `millrace_formats.protobuf.encoder`, the
    types of columns in `millrace_formats.protobuf.shape`.
    """

    Options = ProtobufOptions
    options: ProtobufOptions

    def default_schema(self) -> pa.Schema | None:
        """All fields of the message type; None when it holds itself."""
        from millrace_formats.protobuf.default_schema import default_schema

        return default_schema(self._message_class().DESCRIPTOR)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``.

        Raises:
            SchemaError: A column is not in the message type, or of another type.
            MachineError: Protobuf's library is missing.
        """
        message_class = self._message_class()
        from millrace_formats.protobuf.decoder import ProtobufDecoder

        return ProtobufDecoder(schema, message_class, self.options)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """An encoder of rows of ``schema``; raising as `decoder`, and when a required field has no column."""
        message_class = self._message_class()
        from millrace_formats.protobuf.encoder import ProtobufEncoder

        return ProtobufEncoder(schema, message_class, self.options)

    def _message_class(self) -> Any:
        check_library()
        from millrace_formats.protobuf.message_type import message_type

        assert self.options.descriptor_set is not None  # noqa: S101 - the options see to it
        return message_type(self.options.descriptor_set)
