"""Decode the primary keys of messages, which identify the rows of a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded
from millrace.records.key_bytes import check_key_types, key_bytes
from millrace.records.key_value_projection import ColumnProjection
from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.key_decoder import KeyDecoder


class PrimaryKeys(NamedTuple):
    """The primary keys of some messages.

    Attributes:
        decoded: Their columns.
        row: For each message the row of its key in them; -1 for a malformed one. None when every message has one, in
            order.
        bytes: For each message the bytes of its key; None for a malformed one.
        malformed: The malformed messages.
    """

    decoded: Decoded
    row: np.ndarray | None
    bytes: list[bytes] | list[bytes | None]
    malformed: tuple[MalformedRecord, ...] = ()


class PrimaryKeyDecoder:
    """Decode primary keys.

    Args:
        decoder: Decodes keys.
        projection: Their columns.

    Raises:
        SchemaError: A column cannot be compared.
    """

    def __init__(self, decoder: KeyDecoder, projection: ColumnProjection) -> None:
        check_key_types(projection.schema)
        self._decoder = decoder
        self.columns = projection.columns

    def decode(self, messages: Messages) -> PrimaryKeys:
        """Decode the keys of messages; one without a key, or with NULL in a column of it, is malformed."""
        decoded = self._decoder.decode(messages)
        rows = decoded.rows
        has_nulls = any(column.null_count for column in rows.columns)
        if decoded.message_index is None and not has_nulls and not decoded.errors:
            return PrimaryKeys(decoded, None, key_bytes(rows))
        count = len(messages.items)
        row = np.full(count, -1, np.int64)
        message_index = np.arange(count) if decoded.message_index is None else decoded.message_index.to_numpy()
        is_whole = np.ones(rows.num_rows, bool)
        for column in rows.columns:
            is_whole &= column.is_valid().to_numpy(zero_copy_only=False)
        row[message_index[is_whole]] = np.flatnonzero(is_whole)
        whole_keys = iter(key_bytes(rows.filter(pa.array(is_whole))))
        keys = [None if at < 0 else next(whole_keys) for at in row.tolist()]
        reasons = {error.index: error.reason for error in decoded.errors}
        malformed = tuple(
            self._malformed(messages, index, reasons.get(index)) for index in np.flatnonzero(row < 0).tolist()
        )
        return PrimaryKeys(decoded, row, keys, malformed)

    def _malformed(self, messages: Messages, index: int, reason: str | None) -> MalformedRecord:
        message = messages.items[index]
        if reason is None and message.key() is None:
            reason = "it has no key, which is the primary key of its row"
        reason = reason or f"the primary key ({', '.join(self.columns)}) has a NULL or is missing"
        return MalformedRecord(message, reason, self._decoder.format.name, is_key=True)
