"""Writes many rows at once, for schemas that have nothing but what `millrace_formats.avro.wire` has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from millrace_formats.avro.library import write_batch
from millrace_formats.avro.model import Enum, Fixed, Scalar
from millrace_formats.avro.put import Put, PutChoice, PutRow
from millrace_formats.avro.raw_rows import RawRows
from millrace_formats.avro.wire import FRAME, NotFastError, WireSchemas, wire_text

_DOUBLE = 8


class FastWriter:
    """Writes rows of one schema.

    Args:
        put: How rows are written.
        frame: The head that each message gets before its value, five bytes; empty for none.

    Raises:
        NotFastError: The schema holds what cannot be written so.
    """

    def __init__(self, put: Put, frame: bytes = b"") -> None:
        self._frame = frame
        row = put.put if isinstance(put, PutChoice) else put
        if not isinstance(row, PutRow):
            raise NotFastError("no record")
        self._whole = isinstance(put, PutChoice)
        self._raw = RawRows(row, _adapted)
        wire = WireSchemas()
        fields = [{"name": "whole", "type": wire.of(put.writer)}] if self._whole else wire.of(put.writer)["fields"]
        self._text = wire_text(wire.record([*(FRAME if frame else []), *fields]))

    def write(self, rows: pa.RecordBatch) -> pa.BinaryArray:
        """The rows as messages.

        Raises:
            MessageError: A value cannot be written.
            LibraryRefusedError: The rows are too large to be written at once.
        """
        count = rows.num_rows
        columns = self._raw.columns(rows.columns, rows.schema.names, count)
        names = [f"f{index}" for index in range(len(columns))]
        if self._whole:
            columns, names = [pa.StructArray.from_arrays(columns, names=names)], ["whole"]
        if self._frame:
            head = np.full(count, int.from_bytes(self._frame[1:], "big"), ">u4").view("<f4")
            columns = [pa.array(np.zeros(count, bool)), pa.array(head), *columns]
            names = ["magic", "id", *names]
        return write_batch(pa.RecordBatch.from_arrays(columns, names=names), self._text)


def _adapted(type_: Scalar | Fixed | Enum, values: pa.Array) -> pa.Array:
    if isinstance(type_, Fixed):
        return _parts(values, type_.size)
    return values.view(pa.string()) if values.type == pa.binary() else values


def _parts(values: pa.BinaryArray, size: int) -> pa.StructArray:
    """The bytes of a fixed as doubles, and a float for what is left."""
    octets = np.zeros((len(values), size), np.uint8)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    found = b"".join(value for value in values.to_numpy(zero_copy_only=False).tolist() if value is not None)
    octets[valid] = np.frombuffer(found, np.uint8).reshape(-1, size)
    parts = []
    for at in range(0, size, _DOUBLE):
        part = np.ascontiguousarray(octets[:, at : at + _DOUBLE])
        parts.append(pa.array(part.view("<f8" if part.shape[1] == _DOUBLE else "<f4").reshape(-1)))
    mask = pa.array(~valid) if values.null_count else None
    return pa.StructArray.from_arrays(parts, names=[f"f{index}" for index in range(len(parts))], mask=mask)
