"""The decoder of changes: msgspec for messages as they usually are, the exact reader for all others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.exact_reader import ExactChangeReader
from millrace_formats.changelog.fast_reader import FastChangeReader, Read
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.changelog.row_changes import kind_names
from millrace_formats.json.decoder import EXACT_ONLY
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.fallback_decoder import AT_ONCE, ONE_BY_ONE, empty_batch, read_one_by_one, to_batch
from millrace_formats.shared.message_order import merge_by_message


def all_columns(schema: pa.Schema, told: pa.Schema) -> pa.Schema:
    """What the readers give: the columns, the metadata, and the kinds as numbers."""
    return pa.schema([*schema, *told, pa.field("", pa.int8())])


class ChangeDecoder(Decoder):
    """Reads messages into the rows that they say were changed.

    Every message takes one of two paths, with the same result, as with json. The fast one takes messages whose values
    have their column's own JSON type or, numbers and booleans, are text. Any other is read by the exact reader, alone.

    Args:
        schema: The columns.
        told: The metadata that is asked for.
        fast: The fast reader, or None when there is none for the schema.
        exact: The exact reader.
    """

    def __init__(
        self, schema: pa.Schema, told: pa.Schema, fast: FastChangeReader | None, exact: ExactChangeReader
    ) -> None:
        self._schema = schema
        self._told = told
        self._all = all_columns(schema, told)
        self._fast = fast
        self._exact = exact

    @classmethod
    def of(
        cls, schema: pa.Schema, keys: Mapping[str, MetadataKey], dialect: Dialect, options: JsonOptions
    ) -> ChangeDecoder:
        """A decoder of the messages of a tool to the columns of ``schema`` and the metadata ``keys``."""
        told = pa.schema([pa.field(name, key.reading.type) for name, key in keys.items()])
        wanted = list(keys.values())
        fast = FastChangeReader.of(all_columns(schema, told), list(schema), wanted, dialect, options.iso)
        return cls(schema, told, fast, ExactChangeReader(schema, wanted, dialect, options))

    def explain(self) -> str:
        """Which path messages take."""
        if self._fast is None:
            return f"{ONE_BY_ONE}: a column or its name is none that is read at once, as with json"
        return f"{AT_ONCE}; one by one {EXACT_ONLY}, and malformed ones"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        rows, messages, wrong, left = self._fast.read(items) if self._fast else self._nothing(len(items))
        exact, indexes, errors = read_one_by_one(self._exact.read, items, left)
        if exact or len(wrong):
            few = to_batch(exact, self._all)
            rows, messages = merge_by_message(rows, messages, wrong, few, np.array(indexes, np.int32))
        return self._decoded(rows, messages, len(items), errors)

    def _nothing(self, count: int) -> Read:
        nothing = np.empty(0, np.int32)
        return Read(empty_batch(self._all), nothing, nothing, list(range(count)))

    def _decoded(
        self, rows: pa.RecordBatch, messages: np.ndarray, count: int, errors: list[MalformedMessage]
    ) -> Decoded:
        columns, own = rows.columns, len(self._schema)
        told = pa.RecordBatch.from_arrays(columns[own:-1], schema=self._told) if len(self._told) else None
        one_each = len(messages) == count and (messages == np.arange(count)).all()
        return Decoded(
            pa.RecordBatch.from_arrays(columns[:own], schema=self._schema),
            message_index=None if one_each else pa.array(messages, pa.int32()),
            row_kinds=kind_names().take(columns[-1]),
            errors=tuple(errors),
            metadata=told,
        )
