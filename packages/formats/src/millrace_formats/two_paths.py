"""Decoders with two paths: a fast one for messages as they usually are, an exact one for all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from millrace.contracts import BadMessage, Decoded, Decoder, Payloads
from millrace_formats.bad_message import BadMessageError
from millrace_formats.interleave import interleave

Items = Sequence[bytes | None]


class FastReader(Protocol):
    """Reads at once the messages of a batch that it can read exactly as the exact reader would."""

    def read(self, items: Items) -> tuple[pa.RecordBatch, np.ndarray | None]:
        """Read what can be read.

        Returns:
            The rows, one a message, and for each the index of its message, int32; None instead when it is every
            message, in order.
        """


class ExactReader(Protocol):
    """Reads one message at a time."""

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """The values of a message's columns, ready for ``pa.array``, or None when it gives no row.

        Raises:
            BadMessageError: The message cannot be decoded.
        """


class TwoPathDecoder(Decoder):
    """Decodes what the fast reader takes at once, and each other message by the exact reader, in its place.

    Args:
        schema: The columns.
        fast: The fast reader, or None when there is none for the schema.
        exact: The exact reader.
    """

    def __init__(self, schema: pa.Schema, fast: FastReader | None, exact: ExactReader) -> None:
        self._schema = schema
        self._fast = fast
        self._exact = exact

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        fast, found = self._fast.read(items) if self._fast else (_empty(self._schema), np.empty(0, np.int32))
        if found is None:
            return Decoded(fast)
        missing = np.ones(len(items), bool)
        missing[found] = False
        rows, indexes, errors = read_exactly(self._rows_of, items, np.flatnonzero(missing).tolist())
        if rows:
            exact = batch_of(rows, self._schema)
            fast, found = interleave(fast, found, exact, np.array(indexes, np.int32))
        return Decoded(fast, None if len(found) == len(items) else pa.array(found, pa.int32()), errors=tuple(errors))

    def _rows_of(self, payload: bytes | None) -> list[tuple[Any, ...]]:
        row = self._exact.read(payload)
        return [] if row is None else [row]


def read_exactly(
    read: Callable[[bytes | None], list[tuple[Any, ...]]], items: Items, places: list[int]
) -> tuple[list[tuple[Any, ...]], list[int], list[BadMessage]]:
    """Read some messages of a batch one by one.

    Args:
        read: The rows of a message; raises BadMessageError.
        items: The batch.
        places: The indexes of the messages.

    Returns:
        The rows, for each the index of its message, and the messages that cannot be decoded.
    """
    rows, indexes, errors = [], [], []
    for index in places:
        try:
            found = read(items[index])
        except BadMessageError as error:
            errors.append(BadMessage(index, str(error)))
            continue
        rows += found
        indexes += [index] * len(found)
    return rows, indexes, errors


def without(count: int, left: set[int]) -> np.ndarray:
    """The indexes below ``count``, int32, that are not in ``left``."""
    kept = np.ones(count, bool)
    kept[list(left)] = False
    return np.flatnonzero(kept).astype(np.int32)


def keep_rows(
    batch: pa.RecordBatch, found: np.ndarray | None, rejected: list[np.ndarray]
) -> tuple[pa.RecordBatch, np.ndarray | None]:
    """Drop the rows at the rejected positions from a batch and from the indexes of its messages."""
    if not rejected:
        return batch, found
    kept = np.ones(batch.num_rows, bool)
    kept[np.concatenate(rejected)] = False
    indexes = np.arange(batch.num_rows, dtype=np.int32) if found is None else found
    return batch.filter(pa.array(kept)), indexes[kept]


def not_utf8(items: Sequence[bytes]) -> set[int]:
    """Which messages are not UTF-8."""
    joined = b"\n".join(items)
    if joined.isascii() or is_utf8(joined):
        return set()
    return {index for index, item in enumerate(items) if not is_utf8(item)}


def batch_of(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows of values as a batch."""
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
