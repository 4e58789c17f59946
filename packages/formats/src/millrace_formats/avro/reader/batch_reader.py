"""Read many messages of one schema at once by pyruhvro, and leave out those that it cannot read exactly."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from millrace_formats.avro.pyruhvro_library import PyruhvroError, read_batch
from millrace_formats.avro.reader.arrow_columns import reject_nulls, row_builder
from millrace_formats.avro.reader.read_plan import ReadPlan, RecordPlan, UnionPlan
from millrace_formats.avro.schema.memory_budget import max_fast_size
from millrace_formats.avro.schema.model import split_nullable
from millrace_formats.avro.schema.pyruhvro_schema import UnsupportedByPyruhvroError, message_schema
from millrace_formats.shared.column_casts import Reject
from millrace_formats.shared.fallback_decoder import FastRows, drop_indices, empty_batch

_CHUNK_SIZE = 5_000
"""Messages of one call: larger chunks cost less a message while all can be read, and more when one cannot."""


class PartialBatch(NamedTuple):
    """Rows, and for each the index of its message, int32."""

    rows: pa.RecordBatch
    message_index: np.ndarray


class PyruhvroReader:
    """Read messages of one writer's schema.

    Args:
        plan: How they become rows.
        schema: The columns.
        frame: The registry's frame that stands before each value; empty without one.

    Raises:
        UnsupportedByPyruhvroError: The schema holds a type that pyruhvro does not read exactly.
    """

    def __init__(self, plan: ReadPlan, schema: pa.Schema, frame: bytes = b"") -> None:
        self._schema = schema
        self._frame = frame
        self._record, self._is_nullable = _record_plan(plan)
        self._pyruhvro_schema = message_schema(plan.writer, is_framed=bool(frame))
        self._build = row_builder(self._record)
        self._max_size = max_fast_size(plan.writer)

    def read(self, payloads: Sequence[bytes | None]) -> PartialBatch | None:
        """Read all messages that can be read; None without any.

        Left out are null and empty messages, malformed ones, ones with another frame, ones that may take much memory,
        and, rarely, valid ones.
        """
        index = np.arange(len(payloads), dtype=np.int32)
        if not all(payloads):
            payloads, index = _drop(payloads, index, [i for i, payload in enumerate(payloads) if not payload])
        if not self._all_fit(payloads):
            max_size = self._max_size
            too_large = [i for i, payload in enumerate(payloads) if len(payload or b"") > max_size]
            payloads, index = _drop(payloads, index, too_large)
        parts: list[PartialBatch] = []
        for start in range(0, len(payloads), _CHUNK_SIZE):
            end = start + _CHUNK_SIZE
            self._read_chunk(payloads[start:end], index[start:end], parts)
        if not parts:
            return None
        whole = parts[0] if len(parts) == 1 else _concat(parts)
        return self._convert(whole.rows, whole.message_index)

    def _all_fit(self, payloads: Sequence[Any]) -> bool:
        return self._max_size == sys.maxsize or max(map(len, payloads), default=0) <= self._max_size

    def _read_chunk(self, payloads: Sequence[bytes | None], index: np.ndarray, parts: list[PartialBatch]) -> bool:
        """Read some messages, or else their halves; return whether all could be read at once."""
        try:
            parts.append(PartialBatch(read_batch(payloads, self._pyruhvro_schema), index))
        except PyruhvroError:
            self._read_halves(payloads, index, parts)
            return False
        return True

    def _read_halves(self, payloads: Sequence[bytes | None], index: np.ndarray, parts: list[PartialBatch]) -> None:
        """Read the halves of messages that cannot be read at once."""
        half = len(payloads) // 2
        if not half:
            return
        if self._read_chunk(payloads[:half], index[:half], parts):
            # The message to blame is in the other half, so that reading that at once would fail too
            self._read_halves(payloads[half:], index[half:], parts)
        else:
            self._read_chunk(payloads[half:], index[half:], parts)

    def _convert(self, batch: pa.RecordBatch, index: np.ndarray) -> PartialBatch:
        rejected: list[np.ndarray] = []
        arrays, valid = self._record_arrays(batch, rejected.append)
        columns = self._build(arrays, batch.num_rows, rejected.append)
        reject_nulls(self._record.fields, columns, valid, rejected.append)
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        if not rejected:
            return PartialBatch(rows, index)
        keep = np.ones(batch.num_rows, bool)
        keep[np.concatenate(rejected)] = False
        return PartialBatch(rows.filter(pa.array(keep)), index[keep])

    def _record_arrays(self, batch: pa.RecordBatch, reject: Reject) -> tuple[list[pa.Array], pa.BooleanArray | None]:
        """Return the arrays of the record's fields, and where the record is not null; None for everywhere."""
        arrays = batch.columns
        if self._frame:
            has_other_frame = np.flatnonzero(_frame_numbers(arrays[0], arrays[1]) != int.from_bytes(self._frame, "big"))
            if len(has_other_frame):
                reject(has_other_frame)
            arrays = arrays[2:]
        if not self._is_nullable:
            return arrays, None
        record = arrays[0]
        if record.null_count:
            reject(np.flatnonzero(record.is_null().to_numpy(zero_copy_only=False)))
        return [record.field(i) for i in range(record.type.num_fields)], record.is_valid()


def merge_in_order(parts: Sequence[PartialBatch], schema: pa.Schema, count: int) -> FastRows:
    """Merge the rows of different messages of one batch, in the order of their messages.

    Args:
        parts: The rows.
        schema: Their columns.
        count: The number of messages in the batch.
    """
    if not parts:
        return FastRows(empty_batch(schema), np.empty(0, np.int32))
    rows, index = parts[0]
    if len(parts) > 1:
        rows, index = _concat(parts)
        order = np.argsort(index, kind="stable")
        rows, index = rows.take(pa.array(order)), index[order]
    return FastRows(rows, None if len(index) == count else index)


def _concat(parts: Sequence[PartialBatch]) -> PartialBatch:
    rows = pa.concat_batches([part.rows for part in parts])
    return PartialBatch(rows, np.concatenate([part.message_index for part in parts]))


def _drop(payloads: Sequence[Any], index: np.ndarray, positions: list[int]) -> tuple[list[Any], np.ndarray]:
    return drop_indices(payloads, positions), np.delete(index, positions)


def _record_plan(plan: ReadPlan) -> tuple[RecordPlan, bool]:
    """Return the plan of the record, and whether that may be null."""
    if isinstance(plan, RecordPlan):
        return plan, False
    if isinstance(plan, UnionPlan):
        _, null = split_nullable(plan.writer)
        inner = None if null is None else plan.branches[1 - null]
        if isinstance(inner, RecordPlan):
            return inner, True
    raise UnsupportedByPyruhvroError("no record")


def _frame_numbers(magic: pa.BooleanArray, ids: pa.FloatArray) -> np.ndarray:
    """Return frames as numbers: the four bytes of the id, and above them the magic byte."""
    id_numbers = np.frombuffer(ids.buffers()[1], ">u4", len(ids), ids.offset * 4).astype(np.int64)
    return id_numbers | magic.to_numpy(zero_copy_only=False).astype(np.int64) << 32
