"""Encode rows as single Avro values: many at once by pyruhvro, or one by one by fastavro."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from millrace.contracts import Encoder, Payloads
from millrace_formats.avro.pyruhvro_library import PyruhvroError, write_batch
from millrace_formats.avro.schema.model import AvroEnum, Fixed, Primitive
from millrace_formats.avro.schema.pyruhvro_schema import UnsupportedByPyruhvroError, message_schema
from millrace_formats.avro.writer.fastavro_writer import binary_writer
from millrace_formats.avro.writer.json_writer import json_writer
from millrace_formats.avro.writer.raw_columns import RawColumns, field_names
from millrace_formats.avro.writer.write_plan import WritePlan, WriteUnion, record_plan
from millrace_formats.shared.insert_only import check_insertions

_DOUBLE_BYTES = 8


class RowWriter(Protocol):
    """Write batches as messages."""

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """Write each row as a message; MessageError for a value that cannot be written."""


class AvroEncoder(Encoder):
    """Encode rows as single values of one schema.

    Args:
        format_name: The format's name, for errors.
        schema: The columns.
        writer: Writes them.
    """

    def __init__(self, format_name: str, schema: pa.Schema, writer: RowWriter) -> None:
        self._name = format_name
        self._schema = schema
        self._writer = writer

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one value a row."""
        check_insertions(self._name, self._schema, rows, row_kinds)
        return self._writer.write(rows)


class BinaryWriter:
    """Write rows in the binary encoding, at once where the schema allows that.

    Args:
        plan: How rows are written.
        frame: The registry's frame, put before each value; empty for none.
    """

    def __init__(self, plan: WritePlan, frame: bytes = b"") -> None:
        self._datums = DatumWriter(plan, frame)
        try:
            self._batches: PyruhvroWriter | None = PyruhvroWriter(plan, frame)
        except UnsupportedByPyruhvroError:
            self._batches = None

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """Write each row as a message; MessageError for a value that cannot be written."""
        if self._batches is not None and rows.num_rows:
            try:
                return Payloads(self._batches.write(rows))
            except PyruhvroError:
                pass
        return self._datums.write(rows)


class PyruhvroWriter:
    """Write many rows at once by pyruhvro.

    Args:
        plan: How rows are written.
        frame: The registry's frame, five bytes that are put before each value; empty for none.

    Raises:
        UnsupportedByPyruhvroError: The schema holds a type that pyruhvro does not write exactly.
    """

    def __init__(self, plan: WritePlan, frame: bytes = b"") -> None:
        self._frame = frame
        self._is_nullable = isinstance(plan, WriteUnion)
        self._raw = RawColumns(record_plan(plan), _adapt_to_pyruhvro)
        self._pyruhvro_schema = message_schema(plan.writer, is_framed=bool(frame))

    def write(self, rows: pa.RecordBatch) -> pa.BinaryArray:
        """Write each row as a message.

        Raises:
            MessageError: A value cannot be written.
            PyruhvroError: The rows are too large to be written at once.
        """
        columns = self._raw.convert(rows)
        names = field_names(len(columns))
        if self._is_nullable:
            columns, names = [pa.StructArray.from_arrays(columns, names=names)], ["value"]
        if self._frame:
            ids = np.full(rows.num_rows, int.from_bytes(self._frame[1:], "big"), ">u4").view("<f4")
            columns = [pa.array(np.zeros(rows.num_rows, bool)), pa.array(ids), *columns]
            names = ["magic", "id", *names]
        return write_batch(pa.RecordBatch.from_arrays(columns, names=names), self._pyruhvro_schema)


class DatumWriter:
    """Write rows in the binary encoding, one by one.

    Args:
        plan: How rows are written.
        frame: The registry's frame, put before each value; empty for none.
    """

    def __init__(self, plan: WritePlan, frame: bytes = b"") -> None:
        self._frame = frame
        self._raw = RawColumns(record_plan(plan))
        self._write = binary_writer(plan)

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """Write each row as a message; MessageError for a value that cannot be written."""
        return Payloads([self._write(self._frame, row) for row in _raw_rows(self._raw, rows)])


class JsonWriter:
    """Write rows in the JSON encoding, one by one.

    Args:
        plan: How rows are written.
    """

    def __init__(self, plan: WritePlan) -> None:
        self._raw = RawColumns(record_plan(plan))
        self._write = json_writer(plan)

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """Write each row as a message; MessageError for a value that cannot be written."""
        return Payloads([self._write(row).encode() for row in _raw_rows(self._raw, rows)])


def _raw_rows(raw: RawColumns, rows: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = raw.convert(rows)
    raw_rows: list[dict[str, Any]] = pa.RecordBatch.from_arrays(columns, names=field_names(len(columns))).to_pylist()
    return raw_rows


def _adapt_to_pyruhvro(type_: Primitive | Fixed | AvroEnum, values: pa.Array) -> pa.Array:
    if isinstance(type_, Fixed):
        return _float_parts(values, type_.size)
    return values.view(pa.string()) if values.type == pa.binary() else values


def _float_parts(values: pa.BinaryArray, size: int) -> pa.StructArray:
    """Return the bytes of a fixed as doubles, and a float for the rest."""
    data = np.zeros((len(values), size), np.uint8)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    joined = b"".join(value for value in values.to_numpy(zero_copy_only=False).tolist() if value is not None)
    data[valid] = np.frombuffer(joined, np.uint8).reshape(-1, size)
    parts = []
    for start in range(0, size, _DOUBLE_BYTES):
        part = np.ascontiguousarray(data[:, start : start + _DOUBLE_BYTES])
        parts.append(pa.array(part.view("<f8" if part.shape[1] == _DOUBLE_BYTES else "<f4").reshape(-1)))
    mask = pa.array(~valid) if values.null_count else None
    return pa.StructArray.from_arrays(parts, names=field_names(len(parts)), mask=mask)
