"""The encoders of messages that have no frame, and what those of framed ones are made of."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from millrace.contracts import Encoder, Payloads
from millrace_formats.avro.binary_writer import binary_writer
from millrace_formats.avro.fast_writer import FastWriter
from millrace_formats.avro.json_writer import json_writer
from millrace_formats.avro.library import LibraryRefusedError
from millrace_formats.avro.put import Put, PutChoice, PutRow
from millrace_formats.avro.raw_rows import RawRows
from millrace_formats.avro.wire import NotFastError
from millrace_formats.shared.insert_only import check_insertions


class RowWriter(Protocol):
    """Writes batches."""

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """The rows as messages; MessageError for a value that cannot be written."""


class AvroEncoder(Encoder):
    """Writes rows as single values of one schema.

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


class BinaryRows:
    """Writes rows in the binary encoding: at once, or one by one where the schema has what that does not take.

    Args:
        put: How rows are written.
        frame: The head that each message gets; empty for none.
    """

    def __init__(self, put: Put, frame: bytes = b"") -> None:
        self._exact = ExactRows(put, frame)
        try:
            self._fast: FastWriter | None = FastWriter(put, frame)
        except NotFastError:
            self._fast = None

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """The rows as messages; MessageError for a value that cannot be written."""
        if self._fast is not None and rows.num_rows:
            try:
                return Payloads(self._fast.write(rows))
            except LibraryRefusedError:
                pass
        return self._exact.write(rows)


class ExactRows:
    """Writes rows in the binary encoding, one by one.

    Args:
        put: How rows are written.
        frame: The head that each message gets; empty for none.
    """

    def __init__(self, put: Put, frame: bytes = b"") -> None:
        self._frame = frame
        self._raw = RawRows(row_of(put))
        self._write = binary_writer(put)

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """The rows as messages; MessageError for a value that cannot be written."""
        messages: list[bytes | None] = []
        for row in raw_rows(self._raw, rows):
            out = bytearray(self._frame)
            self._write(out, row)
            messages.append(bytes(out))
        return Payloads(messages)


class JsonRows:
    """Writes rows in the JSON encoding, one by one.

    Args:
        put: How rows are written.
    """

    def __init__(self, put: Put) -> None:
        self._raw = RawRows(row_of(put))
        self._write = json_writer(put)

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """The rows as messages; MessageError for a value that cannot be written."""
        return Payloads([self._write(row).encode() for row in raw_rows(self._raw, rows)])


def row_of(put: Put) -> PutRow:
    """How the record of a schema is written that may be the only branch of a union beside null."""
    inner = put.put if isinstance(put, PutChoice) else put
    if not isinstance(inner, PutRow):
        raise AssertionError("a schema of rows is one of a record")  # noqa: TRY004 - a mistake of ours
    return inner


def raw_rows(raw: RawRows, rows: pa.RecordBatch) -> list[dict[str, object]]:
    """The raw values of a batch, a dict for each row."""
    columns = raw.columns(rows.columns, rows.schema.names, rows.num_rows)
    made: list[dict[str, object]] = pa.RecordBatch.from_arrays(
        columns, names=[f"f{index}" for index in range(len(columns))]
    ).to_pylist()
    return made
