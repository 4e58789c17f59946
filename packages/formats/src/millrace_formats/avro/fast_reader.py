"""Reads many messages of one schema at once, and finds the few that it cannot read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from millrace_formats.avro.conversion import Reject
from millrace_formats.avro.expansion import longest_message
from millrace_formats.avro.fast_columns import reject_nulls, row_builder
from millrace_formats.avro.library import LibraryRefusedError, read_batch
from millrace_formats.avro.model import split_nullable
from millrace_formats.avro.plan import Choice, Plan, Rows
from millrace_formats.avro.wire import FRAME, NotFastError, WireSchemas, wire_text
from millrace_formats.shared.fallback_decoder import drop_indices

_AT_ONCE = 5_000
"""Messages that are read by one call: more cost less while all can be read, and more when one cannot."""


class Found(NamedTuple):
    """Rows, and for each the position of its message, int32."""

    rows: pa.RecordBatch
    positions: np.ndarray


class FastReader:
    """Reads messages of one writer's schema.

    Args:
        plan: How they become rows.
        schema: The columns.
        frame: The head that each message has before its value; empty without one.

    Raises:
        NotFastError: The schema holds what cannot be read so.
    """

    def __init__(self, plan: Plan, schema: pa.Schema, frame: bytes = b"") -> None:
        self._schema = schema
        self._frame = frame
        self._rows, self._nullable = _top(plan)
        self._text = self._wire_text(plan)
        self._build = row_builder(self._rows)
        self._longest = longest_message(plan.writer)

    def read(self, items: Sequence[bytes | None]) -> Found | None:
        """The rows of all messages that can be read; None without any.

        Left out are null and empty ones, those whose bytes, values or frames are errors, those that may become very
        large, and now and then another one.
        """
        places = np.arange(len(items), dtype=np.int32)
        if not all(items):
            items, places = _but(items, places, [index for index, item in enumerate(items) if not item])
        if not self._all_fit(items):
            most = self._longest
            items, places = _but(items, places, [index for index, item in enumerate(items) if len(item or b"") > most])
        parts: list[Found] = []
        for some, where in _portions(items, places):
            self._add(some, where, parts)
        if not parts:
            return None
        batch = parts[0].rows if len(parts) == 1 else pa.concat_batches([part.rows for part in parts])
        positions = parts[0].positions if len(parts) == 1 else np.concatenate([part.positions for part in parts])
        return self._found(batch, positions)

    def _all_fit(self, items: Sequence[Any]) -> bool:
        return self._longest == sys.maxsize or max(map(len, items), default=0) <= self._longest

    def _add(self, items: Sequence[bytes | None], places: np.ndarray, parts: list[Found]) -> bool:
        """Let the library read some messages, and their halves when it cannot; answers whether it read all at once."""
        try:
            parts.append(Found(read_batch(items, self._text), places))
        except LibraryRefusedError:
            self._add_halves(items, places, parts)
            return False
        return True

    def _add_halves(self, items: Sequence[bytes | None], places: np.ndarray, parts: list[Found]) -> None:
        """The same for messages that the library cannot read all at once."""
        half = len(items) // 2
        if not half:
            return
        if self._add(items[:half], places[:half], parts):
            # So what it cannot read is in the other half, which need not be tried
            self._add_halves(items[half:], places[half:], parts)
        else:
            self._add(items[half:], places[half:], parts)

    def _found(self, batch: pa.RecordBatch, positions: np.ndarray) -> Found:
        rejected: list[np.ndarray] = []
        arrays, valid = self._arrays(batch, rejected.append)
        columns = self._build(arrays, batch.num_rows, rejected.append)
        reject_nulls(self._rows.fields, columns, valid, rejected.append)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        if not rejected:
            return Found(rows, positions)
        kept = np.ones(batch.num_rows, bool)
        kept[np.concatenate(rejected)] = False
        return Found(rows.filter(pa.array(kept)), positions[kept])

    def _arrays(self, batch: pa.RecordBatch, reject: Reject) -> tuple[list[pa.Array], pa.BooleanArray | None]:
        """The arrays of the record's fields, and where there is a record at all."""
        arrays = batch.columns
        if self._frame:
            heads = _heads(arrays[0], arrays[1])
            others = np.flatnonzero(heads != _head(self._frame))
            if len(others):
                reject(others)
            arrays = arrays[2:]
        if not self._nullable:
            return arrays, None
        whole = arrays[0]
        if whole.null_count:
            reject(np.flatnonzero(whole.is_null().to_numpy(zero_copy_only=False)))
        return [whole.field(i) for i in range(whole.type.num_fields)], whole.is_valid()

    def _wire_text(self, plan: Plan) -> str:
        wire = WireSchemas()
        whole = wire.of(plan.writer)
        fields = [{"name": "whole", "type": whole}] if self._nullable else whole["fields"]
        return wire_text(wire.record([*(FRAME if self._frame else []), *fields]))


def _but(items: Sequence[Any], places: np.ndarray, left: list[int]) -> tuple[list[Any], np.ndarray]:
    """Messages and their places, without those at some positions."""
    return drop_indices(items, left), np.delete(places, left)


def _portions(items: Sequence[Any], places: np.ndarray) -> list[tuple[Sequence[Any], np.ndarray]]:
    """Messages, and their places, as they are to be read at once."""
    if len(items) <= _AT_ONCE:
        return [(items, places)] if items else []
    return [(items[at : at + _AT_ONCE], places[at : at + _AT_ONCE]) for at in range(0, len(items), _AT_ONCE)]


def _top(plan: Plan) -> tuple[Rows, bool]:
    """The plan of the record, and whether it may be null."""
    if isinstance(plan, Rows):
        return plan, False
    if isinstance(plan, Choice):
        _, null = split_nullable(plan.writer)
        inner = None if null is None else plan.branches[1 - null]
        if isinstance(inner, Rows):
            return inner, True
    raise NotFastError("no record")


def _heads(magic: pa.BooleanArray, ids: pa.FloatArray) -> np.ndarray:
    """The frames as numbers: the id, and above it the magic byte."""
    words = np.frombuffer(ids.buffers()[1], ">u4", len(ids), ids.offset * 4).astype(np.int64)
    odd = magic.to_numpy(zero_copy_only=False)
    return words | odd.astype(np.int64) << 32


def _head(frame: bytes) -> int:
    return int.from_bytes(frame, "big")
