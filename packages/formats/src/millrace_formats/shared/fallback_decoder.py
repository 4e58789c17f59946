"""Decode most messages at once with a fast reader, and the others one by one with an exact one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace.errors import MalformedMessageError
from millrace_formats.shared.message_order import merge_by_message

PayloadList = Sequence[bytes | None]

AT_ONCE = "many messages at once"
ONE_BY_ONE = "one message after the other"

_FEW = 32


class FastRows(NamedTuple):
    """The rows that a fast reader has read of a batch.

    Attributes:
        rows: The rows, one a message.
        message_index: For each row the index of its message, int32, ascending; None for every message, in order.
        placeholders: Indices of placeholder rows to discard, in any order, repeated or not. Their messages go to the
            exact reader.
    """

    rows: pa.RecordBatch
    message_index: np.ndarray | None
    placeholders: Sequence[np.ndarray] = ()


class FastReader(Protocol):
    """Read at once the messages of a batch that it can read exactly as the exact reader would."""

    def read(self, payloads: PayloadList) -> FastRows:
        """Read the messages that it can."""


class ExactReader(Protocol):
    """Read one message at a time."""

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns, ready for ``pa.array``; None when it gives no row.

        Raises:
            MalformedMessageError: The message cannot be decoded.
        """


class FallbackDecoder(Decoder):
    """Decode with a fast reader, and give the messages that it leaves to an exact one, in their place.

    Args:
        schema: The columns.
        fast: The fast reader, or None when there is none for the schema.
        exact: The exact reader.
    """

    def __init__(self, schema: pa.Schema, fast: FastReader | None, exact: ExactReader) -> None:
        self._schema = schema
        self._fast = fast
        self._exact = exact

    def explain(self) -> str:
        """Name the path that messages take."""
        if self._fast is None:
            return f"{ONE_BY_ONE}: {self._no_fast_reason()}"
        return f"{AT_ONCE}; one by one {self._exact_only()}, and malformed ones"

    def _no_fast_reason(self) -> str:
        """Say why there is no fast reader."""
        return "nothing faster reads these columns exactly"

    def _exact_only(self) -> str:
        """Name the messages that the fast reader leaves."""
        return "those that are unusual"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        fast = self._fast.read(items) if self._fast else FastRows(empty_batch(self._schema), np.empty(0, np.int32))
        if fast.message_index is None and not fast.placeholders:
            return Decoded(fast.rows)
        index = np.arange(len(items), dtype=np.int32) if fast.message_index is None else fast.message_index
        placeholders = sorted_unique(fast.placeholders)
        unread = np.ones(len(items), bool)
        unread[index] = False
        unread[index[placeholders]] = True
        rows, rows_index, errors = read_one_by_one(self._rows_of, items, np.flatnonzero(unread).tolist())
        batch = fast.rows
        if rows or len(placeholders):
            exact = to_batch(rows, self._schema)
            batch, index = merge_by_message(batch, index, placeholders, exact, np.array(rows_index, np.int32))
        return Decoded(batch, None if len(index) == len(items) else pa.array(index), errors=tuple(errors))

    def _rows_of(self, payload: bytes | None) -> list[tuple[Any, ...]]:
        row = self._exact.read(payload)
        return [] if row is None else [row]


def read_one_by_one(
    read: Callable[[bytes | None], list[tuple[Any, ...]]], payloads: PayloadList, indices: list[int]
) -> tuple[list[tuple[Any, ...]], list[int], list[MalformedMessage]]:
    """Read some messages of a batch one by one.

    Args:
        read: Returns the rows of a message; raises MalformedMessageError.
        payloads: The batch.
        indices: The messages to read.

    Returns:
        The rows, for each the index of its message, and the messages that cannot be decoded.
    """
    rows, message_index, errors = [], [], []
    for index in indices:
        try:
            message_rows = read(payloads[index])
        except MalformedMessageError as error:
            errors.append(MalformedMessage(index, str(error)))
            continue
        rows += message_rows
        message_index += [index] * len(message_rows)
    return rows, message_index, errors


def sorted_unique(indices: Iterable[np.ndarray]) -> np.ndarray:
    """Join arrays of indices; each index once, ascending."""
    arrays = list(indices)
    return np.unique(np.concatenate(arrays)) if arrays else np.empty(0, np.intp)


def drop_indices(items: Sequence[Any], indices: Collection[int]) -> list[Any]:
    """Return the items except those at some indices."""
    if len(indices) > _FEW:
        return [items[index] for index in indices_except(len(items), indices).tolist()]
    remaining = list(items)
    for index in sorted(indices, reverse=True):
        del remaining[index]
    return remaining


def indices_except(count: int, indices: Collection[int]) -> np.ndarray:
    """Return the indices below ``count``, int32, except some."""
    return np.delete(np.arange(count, dtype=np.int32), list(indices))


def not_utf8(payloads: Sequence[bytes]) -> set[int]:
    """Return the indices of messages that are not UTF-8."""
    if all(map(bytes.isascii, payloads)) or is_utf8(b"\n".join(payloads)):
        return set()
    return {index for index, payload in enumerate(payloads) if not (payload.isascii() or is_utf8(payload))}


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def to_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Make a batch of rows of values."""
    if not rows:
        return empty_batch(schema)
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """Make a batch without rows."""
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
