"""The debezium-avro-confluent format: changes as Debezium writes them, whose schema a registry has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from millrace.contracts import ChangelogFormat, ConnectReader, Decoded, Decoder, Encoder, MalformedMessage, Payloads
from millrace_formats.avro.debezium_changes import (
    METADATA_TYPES,
    changes_of,
    envelope_fields,
    envelopes_of,
    merge_errors,
    metadata_fields,
    metadata_of,
)
from millrace_formats.avro.registry.codec import RegistryCodec, check_libraries
from millrace_formats.avro.registry.connect_messages import ConnectMessages
from millrace_formats.avro.registry.options import DebeziumAvroOptions
from millrace_formats.avro.registry.schemas import avro_registry
from millrace_formats.avro.writer.encoder import RowWriter
from millrace_formats.registry.format import RegistryFormat
from millrace_formats.registry.subjects import SubjectName
from millrace_formats.shared.insert_only import check_insertions

_NAME = "debezium-avro-confluent"


class DebeziumAvroConfluentFormat(RegistryFormat, ChangelogFormat):
    """The row before a change, the row after it, and the operation, framed as messages of avro-confluent are."""

    Options = DebeziumAvroOptions
    options: DebeziumAvroOptions
    name = _NAME

    @property
    def upserts(self) -> bool:
        """True where an update without its old row is its new row alone: see `ChangelogFormat.upserts`."""
        return self.options.updates_without_old_row == "upsert"

    @classmethod
    def check_requirements(cls) -> None:
        """Check that pyruhvro and the registry's client are installed: see `Plugin.check_requirements`."""
        check_libraries(_NAME)

    def metadata(self) -> Mapping[str, pa.DataType]:
        """Return the types of a message's metadata, by key."""
        return METADATA_TYPES

    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        """Return a decoder to rows of ``schema`` with row kinds; SchemaError when a column cannot be read."""
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        envelope = pa.schema([*envelope_fields(schema), *metadata_fields(metadata)])
        envelopes = codec.decoder(envelope, skips_empty=True, texts=True)
        return DebeziumDecoder(envelopes, schema, list(metadata), upserts=self.upserts)

    def connect_reader(self) -> ConnectReader:
        """Return a reader of changes with the types of their writers' schemas."""
        return ConnectMessages(lambda: avro_registry(_NAME, self.options)).read

    def _encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        codec = RegistryCodec(_NAME, self.options)
        codec.check(schema)
        # Flink registers a nullable envelope
        writer = codec.writer(pa.schema(envelope_fields(schema)), subject, is_nullable=True)
        return DebeziumEncoder(_NAME, schema, writer)

    def _columns(self, subject: str) -> pa.Schema | None:
        envelope = RegistryCodec(_NAME, self.options).columns(subject)
        if envelope is None or envelope.get_field_index("after") < 0:
            return None
        row = envelope.field("after").type
        return pa.schema(list(row)) if pa.types.is_struct(row) else None


class DebeziumDecoder(Decoder):
    """Decode envelopes to rows of changes.

    Args:
        envelopes: Decodes the envelopes; null and empty messages, which are tombstones, give none.
        schema: The columns of the rows.
        metadata: Keys of the metadata to read.
        upserts: Whether an update without its old row is its new row alone.
    """

    def __init__(
        self, envelopes: Decoder, schema: pa.Schema, metadata: Sequence[str], *, upserts: bool = False
    ) -> None:
        self._upserts = upserts
        self._envelopes = envelopes
        self._schema = schema
        self._metadata = metadata

    def explain(self) -> str:
        """Name the path that envelopes take."""
        return self._envelopes.explain()

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: one row a message, or two for an update."""
        envelopes = self._envelopes.decode(payloads)
        changes = changes_of(envelopes.rows, self._schema, upserts=self._upserts)
        index = envelopes.message_index
        envelope_index = np.arange(envelopes.rows.num_rows, dtype=np.int32) if index is None else index.to_numpy()
        message_index = envelope_index[changes.envelope_index]
        metadata = (
            metadata_of(envelopes.rows, self._metadata).take(pa.array(changes.envelope_index))
            if self._metadata
            else None
        )
        errors = [MalformedMessage(int(envelope_index[error.index]), error.reason) for error in changes.errors]
        has_row_each = (
            len(message_index) == len(payloads) and not errors and bool(np.all(message_index[1:] > message_index[:-1]))
        )
        return Decoded(
            changes.rows,
            None if has_row_each else pa.array(message_index),
            changes.kinds,
            merge_errors(envelopes.errors, errors),
            metadata,
        )


class DebeziumEncoder(Encoder):
    """Encode each row of changes as an envelope of its own.

    Args:
        format_name: The format's name, for errors.
        schema: The columns.
        writer: Writes envelopes.
    """

    def __init__(self, format_name: str, schema: pa.Schema, writer: RowWriter) -> None:
        self._name = format_name
        self._schema = schema
        self._writer = writer

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one envelope a row."""
        check_insertions(self._name, self._schema, rows, None)
        return self._writer.write(envelopes_of(rows, row_kinds))
