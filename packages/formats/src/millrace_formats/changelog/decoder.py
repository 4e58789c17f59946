"""The decoder of changes: msgspec for most messages, the exact reader for the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.exact_reader import ExactChangeReader
from millrace_formats.changelog.fast_reader import FastChangeReader, FastChanges
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.changelog.row_changes import kind_names
from millrace_formats.json.decoder import EXACT_ONLY
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.fallback_decoder import AT_ONCE, ONE_BY_ONE, empty_batch, read_one_by_one, to_batch
from millrace_formats.shared.message_order import merge_by_message


def all_columns(schema: pa.Schema, metadata: pa.Schema) -> pa.Schema:
    """Return the schema that readers fill: the columns, the metadata, and the kinds as numbers."""
    return pa.schema([*schema, *metadata, pa.field("", pa.int8())])


class ChangeDecoder(Decoder):
    """Decode messages to the rows that were changed.

    Two readers give the same rows, as with json. The fast one takes messages whose values have their column's own JSON
    type or, numbers and booleans, are text. Any other message goes to the exact reader, alone.

    Args:
        schema: The columns.
        metadata: The requested metadata.
        fast: The fast reader, or None when there is none for the schema.
        exact: The exact reader.
    """

    def __init__(
        self, schema: pa.Schema, metadata: pa.Schema, fast: FastChangeReader | None, exact: ExactChangeReader
    ) -> None:
        self._schema = schema
        self._metadata = metadata
        self._all = all_columns(schema, metadata)
        self._fast = fast
        self._exact = exact

    @classmethod
    def of(
        cls, schema: pa.Schema, keys: Mapping[str, MetadataKey], dialect: Dialect, options: JsonOptions
    ) -> ChangeDecoder:
        """Make a decoder of a tool's messages to the columns of ``schema`` and the metadata ``keys``."""
        metadata = pa.schema([pa.field(name, key.reader.type) for name, key in keys.items()])
        metadata_keys = list(keys.values())
        fast = FastChangeReader.of(all_columns(schema, metadata), list(schema), metadata_keys, dialect, options.iso)
        return cls(schema, metadata, fast, ExactChangeReader(schema, metadata_keys, dialect, options))

    def explain(self) -> str:
        """Name the path that messages take."""
        if self._fast is None:
            return f"{ONE_BY_ONE}: a column, or its name, cannot be read at once, as with json"
        return f"{AT_ONCE}; one by one {EXACT_ONLY}, and malformed ones"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        rows, index, placeholders, unread = self._fast.read(items) if self._fast else self._all_unread(len(items))
        exact, exact_index, errors = read_one_by_one(self._exact.read, items, unread)
        if exact or len(placeholders):
            batch = to_batch(exact, self._all)
            rows, index = merge_by_message(rows, index, placeholders, batch, np.array(exact_index, np.int32))
        return self._decoded(rows, index, len(items), errors)

    def _all_unread(self, count: int) -> FastChanges:
        none = np.empty(0, np.int32)
        return FastChanges(empty_batch(self._all), none, none, list(range(count)))

    def _decoded(self, rows: pa.RecordBatch, index: np.ndarray, count: int, errors: list[MalformedMessage]) -> Decoded:
        columns, width = rows.columns, len(self._schema)
        metadata = pa.RecordBatch.from_arrays(columns[width:-1], schema=self._metadata) if len(self._metadata) else None
        one_each = len(index) == count and (index == np.arange(count)).all()
        return Decoded(
            pa.RecordBatch.from_arrays(columns[:width], schema=self._schema),
            message_index=None if one_each else pa.array(index, pa.int32()),
            row_kinds=kind_names().take(columns[-1]),
            errors=tuple(errors),
            metadata=metadata,
        )
