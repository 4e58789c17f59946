"""Decode keys, and place their columns beside those of the values."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import Decoded, Decoder, MalformedMessage
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import ColumnProjection
from millrace.records.messages import Messages, with_schema_header
from millrace.source.reader.decode import decode, in_time_zone


class KeyDecoder:
    """Decode the keys of messages.

    A key that gives no row, as a null one, leaves its columns NULL: the message has a value all the same.

    Args:
        key_format: Their format.
        projection: Their columns.
        columns: Which of these are read from the key; the others are read from the value as well, and taken from there.
        zone: The time zone of text that has none.

    Attributes:
        format: Their format.
        columns: The names of the columns that are read from the key.
    """

    def __init__(
        self, key_format: PluginRef, projection: ColumnProjection, columns: Collection[str], zone: str
    ) -> None:
        self.format = key_format
        self.columns = frozenset(columns)
        format_ = key_format.create()
        self._decoder: Decoder = format_.decoder(in_time_zone(projection.schema, zone))
        self._schema_header = format_.schema_header(is_key=True)
        self._projection = projection

    def explain(self) -> str:
        """Return how keys are read, in words for a person."""
        return self._decoder.explain()

    def decode(self, messages: Messages) -> Decoded:
        """Decode the keys of messages, malformed ones among them.

        Raises:
            PluginError: The format does not keep its contract.
        """
        payloads: Sequence[bytes | None] = list(map(Message.key, messages.items))
        if self._schema_header is not None:
            payloads = with_schema_header(payloads, messages.items, self._schema_header)
        return _one_row_each(decode(self._decoder, payloads, self._projection.schema, self.format.name))

    def columns_for(
        self, keys: Decoded, message_count: int, message_index: pa.Int32Array | None
    ) -> dict[str, pa.Array]:
        """Return the columns of the keys for each row of the values, NULL where there is no key.

        Args:
            keys: The decoded keys.
            message_count: How many messages there are.
            message_index: For each row of the values the index of its message; None when every message has one row.
        """
        rows = self._key_rows(keys, message_count, message_index)
        return {
            name: column if rows is None else column.take(rows)
            for name, column in zip(self._projection.columns, keys.rows.columns, strict=True)
            if name in self.columns
        }

    def _key_rows(self, keys: Decoded, message_count: int, message_index: pa.Int32Array | None) -> pa.Array | None:
        """Return for each row of the values the row of its key, null without one; None if both have the same order."""
        if keys.message_index is None:
            return message_index
        key_messages: np.ndarray = keys.message_index.to_numpy()
        row_of_message = np.full(message_count, -1, np.int64)
        row_of_message[key_messages] = np.arange(len(key_messages))
        rows = pa.array(row_of_message, mask=row_of_message < 0)
        return rows if message_index is None else rows.take(message_index)


def _one_row_each(keys: Decoded) -> Decoded:
    """Return decoded keys of which those with several rows are malformed."""
    if keys.message_index is None or keys.rows.num_rows < 2:
        return keys
    index: np.ndarray = keys.message_index.to_numpy()
    messages, counts = np.unique(index, return_counts=True)
    repeated = counts > 1
    if not repeated.any():
        return keys
    errors = [
        MalformedMessage(message, f"it has {count} rows, and a key has one")
        for message, count in zip(messages[repeated].tolist(), counts[repeated].tolist(), strict=True)
    ]
    is_kept = ~np.isin(index, messages[repeated])
    return dataclasses.replace(
        keys,
        rows=keys.rows.filter(pa.array(is_kept)),
        message_index=pa.array(index[is_kept], pa.int32()),
        errors=tuple(sorted((*keys.errors, *errors), key=lambda error: error.index)),
    )
