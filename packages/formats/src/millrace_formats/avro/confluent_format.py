"""The avro-confluent format: values whose schema a registry has."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder
from millrace_formats.avro.registry.codec import RegistryCodec, check_libraries
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.avro.writer.encoder import AvroEncoder
from millrace_formats.registry.format import RegistryFormat
from millrace_formats.registry.subjects import SubjectName

_NAME = "avro-confluent"


class AvroConfluentFormat(RegistryFormat):
    """One record a message, behind a frame that names its schema by the id that a registry gave it.

    A message is read by the schema that it was written with. A write registers the schema that is derived from the
    columns, or the one of option ``schema``.
    """

    Options = AvroRegistryOptions
    options: AvroRegistryOptions
    name = _NAME

    @classmethod
    def check_requirements(cls) -> None:
        """Check that pyruhvro and the registry's client are installed: see `Plugin.check_requirements`."""
        check_libraries(_NAME)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        return codec.decoder(schema)

    def _encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        return AvroEncoder(_NAME, schema, codec.writer(schema, subject))

    def _columns(self, subject: str) -> pa.Schema | None:
        return RegistryCodec(_NAME, self.options).columns(subject)
