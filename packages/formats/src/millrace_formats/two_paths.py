"""Decoders with two paths: a fast one for messages as they usually are, an exact one for all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace_formats.bad_message import MalformedMessageError
from millrace_formats.interleave import interleave

Items = Sequence[bytes | None]

AT_ONCE = "many messages at once"
ONE_BY_ONE = "one message after the other"

_FEW = 32


class Read(NamedTuple):
    """What a fast reader has read of a batch.

    Attributes:
        rows: The rows, one a message.
        messages: For each the index of its message, int32, ascending; None when it is every message, in order.
        wrong: The positions of rows that mean nothing, in any order and number; their messages are not read.
    """

    rows: pa.RecordBatch
    messages: np.ndarray | None
    wrong: Sequence[np.ndarray] = ()


class FastReader(Protocol):
    """Reads at once the messages of a batch that it can read exactly as the exact reader would."""

    def read(self, items: Items) -> Read:
        """Read what can be read."""


class ExactReader(Protocol):
    """Reads one message at a time."""

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """The values of a message's columns, ready for ``pa.array``, or None when it gives no row.

        Raises:
            MalformedMessageError: The message cannot be decoded.
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

    def explain(self) -> str:
        """Which path messages take."""
        if self._fast is None:
            return f"{ONE_BY_ONE}: {self._why_exact()}"
        return f"{AT_ONCE}; one by one {self._left_by_fast()}, and malformed ones"

    def _why_exact(self) -> str:
        """Why there is no fast reader."""
        return "nothing faster reads these columns exactly"

    def _left_by_fast(self) -> str:
        """Which messages the fast reader leaves."""
        return "those that are unusual"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        read = self._fast.read(items) if self._fast else Read(empty(self._schema), np.empty(0, np.int32))
        if read.messages is None and not read.wrong:
            return Decoded(read.rows)
        found = np.arange(len(items), dtype=np.int32) if read.messages is None else read.messages
        wrong = positions(read.wrong)
        missing = np.ones(len(items), bool)
        missing[found] = False
        missing[found[wrong]] = True
        rows, indexes, errors = read_exactly(self._rows_of, items, np.flatnonzero(missing).tolist())
        merged = read.rows
        if rows or len(wrong):
            exact = batch_of(rows, self._schema)
            merged, found = interleave(merged, found, wrong, exact, np.array(indexes, np.int32))
        return Decoded(merged, None if len(found) == len(items) else pa.array(found), errors=tuple(errors))

    def _rows_of(self, payload: bytes | None) -> list[tuple[Any, ...]]:
        row = self._exact.read(payload)
        return [] if row is None else [row]


def read_exactly(
    read: Callable[[bytes | None], list[tuple[Any, ...]]], items: Items, places: list[int]
) -> tuple[list[tuple[Any, ...]], list[int], list[MalformedMessage]]:
    """Read some messages of a batch one by one.

    Args:
        read: The rows of a message; raises MalformedMessageError.
        items: The batch.
        places: The indexes of the messages.

    Returns:
        The rows, for each the index of its message, and the messages that cannot be decoded.
    """
    rows, indexes, errors = [], [], []
    for index in places:
        try:
            found = read(items[index])
        except MalformedMessageError as error:
            errors.append(MalformedMessage(index, str(error)))
            continue
        rows += found
        indexes += [index] * len(found)
    return rows, indexes, errors


def positions(found: Iterable[np.ndarray]) -> np.ndarray:
    """Positions that were found in any order and number, each once, ascending."""
    arrays = list(found)
    return np.unique(np.concatenate(arrays)) if arrays else np.empty(0, np.intp)


def without(items: Sequence[Any], left: Collection[int]) -> list[Any]:
    """The items but those at some places."""
    if len(left) > _FEW:
        return [items[place] for place in others(len(items), left).tolist()]
    kept = list(items)
    for place in sorted(left, reverse=True):
        del kept[place]
    return kept


def others(count: int, left: Collection[int]) -> np.ndarray:
    """The indexes below ``count``, int32, that are not in ``left``."""
    return np.delete(np.arange(count, dtype=np.int32), list(left))


def not_utf8(items: Sequence[bytes]) -> set[int]:
    """Which messages are not UTF-8."""
    if all(map(bytes.isascii, items)) or is_utf8(b"\n".join(items)):
        return set()
    return {index for index, item in enumerate(items) if not (item.isascii() or is_utf8(item))}


def batch_of(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows of values as a batch."""
    if not rows:
        return empty(schema)
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows."""
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
