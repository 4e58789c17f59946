"""The avro-confluent format: values whose schema a registry has."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder
from millrace_formats.avro.encoder import AvroEncoder
from millrace_formats.avro.registry_format import RegistryCodec, RegistryFormat

_NAME = "avro-confluent"


class AvroConfluentFormat(RegistryFormat):
    """One record a message, after a zero byte and the four bytes of its schema's id in a registry.

    A read takes each message by the schema that it was written with, whichever that is. A write registers the schema
    that is derived from the columns, or the given one.
    """

    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        return codec.decoder(schema)

    def _encoder(self, schema: pa.Schema, default_subject: str | None) -> Encoder:
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        return AvroEncoder(_NAME, schema, codec.rows(schema, default_subject))
