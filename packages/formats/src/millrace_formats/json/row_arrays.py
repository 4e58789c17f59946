"""Read messages that are arrays of rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace.row_arrays import begins_array, rows_in


class RowArraysDecoder(Decoder):
    """Decode each row of an array as if it were a message; other messages as they are.

    A message with a malformed row is malformed. Where malformed messages are skipped, so are rows, one by one.

    Args:
        inner: Decodes messages that are one row, and gives none for an array.
    """

    def __init__(self, inner: Decoder) -> None:
        self._inner = inner
        self._expects_arrays = False

    def explain(self) -> str:
        """Name the path that messages take."""
        return self._inner.explain()

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch.

        Most topics have no arrays, so they are looked for only among the messages that gave no row; from the first one
        on, in all messages, so that none is decoded twice.
        """
        if not self._expects_arrays:
            decoded = self._inner.decode(payloads)
            self._expects_arrays = _has_array(payloads, decoded)
            if not self._expects_arrays:
                return decoded
        rows: list[bytes | None] = []
        counts = []
        for payload in payloads.to_list():
            payload_rows = rows_in(payload)
            rows += payload_rows
            counts.append(len(payload_rows))
        decoded = self._inner.decode(Payloads(rows))
        return _by_message(decoded, np.array(counts, np.int32))


def _has_array(payloads: Payloads, decoded: Decoded) -> bool:
    if decoded.message_index is None:
        return False
    items = payloads.to_list()
    lacks_row = np.ones(len(items), bool)
    lacks_row[decoded.message_index.to_numpy()] = False
    return any(begins_array(items[index]) for index in np.flatnonzero(lacks_row).tolist())


def _by_message(decoded: Decoded, counts: np.ndarray) -> Decoded:
    """Return what was decoded of rows by the messages that they are in.

    Args:
        decoded: Rows and errors by the number of the row.
        counts: For each message its number of rows.
    """
    message_of_row = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    index = message_of_row
    if decoded.message_index is not None:
        index = message_of_row[decoded.message_index.to_numpy()]
    errors = _first_errors(decoded.errors, message_of_row, counts)
    rows = decoded.rows
    is_whole = ~np.isin(index, [error.index for error in errors])
    if not is_whole.all():
        rows, index = rows.filter(pa.array(is_whole)), index[is_whole]
    return dataclasses.replace(decoded, rows=rows, message_index=pa.array(index), errors=tuple(errors))


def _first_errors(
    errors: Sequence[MalformedMessage], message_of_row: np.ndarray, counts: np.ndarray
) -> list[MalformedMessage]:
    """Return the first error of each message."""
    first_rows = np.cumsum(counts) - counts
    first_errors: dict[int, MalformedMessage] = {}
    for error in errors:
        message = int(message_of_row[error.index])
        reason = error.reason
        if counts[message] > 1:
            reason = f"row {error.index - int(first_rows[message]) + 1} of its {counts[message]} rows: {reason}"
        first_errors.setdefault(message, MalformedMessage(message, reason))
    return list(first_errors.values())
