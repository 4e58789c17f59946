"""The debezium-avro-confluent format: changes as Debezium writes them, whose schema a registry has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from millrace.contracts import ChangelogFormat, Decoder, Encoder
from millrace_formats.avro.debezium_changes import envelope_fields
from millrace_formats.avro.debezium_codec import DebeziumDecoder, DebeziumEncoder
from millrace_formats.avro.debezium_metadata import TYPES, metadata_fields
from millrace_formats.avro.registry_format import RegistryCodec, RegistryFormat

_NAME = "debezium-avro-confluent"


class DebeziumAvroConfluentFormat(RegistryFormat, ChangelogFormat):
    """The row before a change, the row after it, and what was done, framed as avro-confluent's messages are."""

    def metadata(self) -> Mapping[str, pa.DataType]:
        """The types of what a message tells beside its rows."""
        return TYPES

    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        """A decoder to rows of ``schema`` with row kinds; SchemaError when a column cannot be read."""
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        envelope = pa.schema([*envelope_fields(schema), *metadata_fields(metadata)])
        envelopes = codec.decoder(envelope, skips_empty=True, texts=True)
        return DebeziumDecoder(envelopes, schema, list(metadata))

    def _encoder(self, schema: pa.Schema, default_subject: str | None) -> Encoder:
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        # As in the reference, whose envelope may be null
        writer = codec.rows(pa.schema(envelope_fields(schema)), default_subject, nullable=True)
        return DebeziumEncoder(_NAME, schema, writer)
