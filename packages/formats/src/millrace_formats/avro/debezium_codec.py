"""The decoder and the encoder of Debezium's envelopes in registry-framed Avro."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Encoder, MalformedMessage, Payloads
from millrace_formats.avro.debezium_changes import changes_of, envelopes_of, merged
from millrace_formats.avro.debezium_metadata import metadata_of
from millrace_formats.avro.encoder import RowWriter
from millrace_formats.shared.insert_only import check_insertions


class DebeziumDecoder(Decoder):
    """Reads envelopes into rows of changes.

    Args:
        envelopes: Reads the envelopes; null and empty messages, which are tombstones, give none.
        schema: The columns of the rows.
        metadata: Keys of what is told beside them.
    """

    def __init__(self, envelopes: Decoder, schema: pa.Schema, metadata: Sequence[str]) -> None:
        self._envelopes = envelopes
        self._schema = schema
        self._metadata = metadata

    def explain(self) -> str:
        """How envelopes are read."""
        return self._envelopes.explain()

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: one row a message, or for an update two."""
        decoded = self._envelopes.decode(payloads)
        changes = changes_of(decoded.rows, self._schema)
        index = decoded.message_index
        messages = np.arange(decoded.rows.num_rows, dtype=np.int32) if index is None else index.to_numpy()
        told = metadata_of(decoded.rows, self._metadata).take(pa.array(changes.of)) if self._metadata else None
        errors = [MalformedMessage(int(messages[error.index]), error.reason) for error in changes.errors]
        of = messages[changes.of]
        each = len(of) == len(payloads) and not errors and bool(np.all(of[1:] > of[:-1]))
        return Decoded(
            changes.rows, None if each else pa.array(of), changes.kinds, merged(decoded.errors, errors), told
        )


class DebeziumEncoder(Encoder):
    """Writes each row of changes as an envelope of its own.

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
