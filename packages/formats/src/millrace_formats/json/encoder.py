"""The json encoder: arro3 for most batches, the exact writer for rows that arro3 cannot write exactly."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Encoder, Payloads
from millrace_formats.json.arrow_json import ArrowJsonBatch, ArrowJsonConverter, unquote_numbers
from millrace_formats.json.exact_writer import JsonExactWriter
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.insert_only import check_insertions


class JsonEncoder(Encoder):
    """Write rows as JSON objects, one field a column, in the columns' order.

    Timestamps are written with as many digits of fraction as needed, TIMESTAMP in UTC and with ``Z``; binary as base64;
    map keys as text; decimals as Java's BigDecimal without the zeros at its end (``1.5``, ``1E+2``), or plain; NaN and
    the infinities as text, since JSON numbers have none. Floats are the shortest text that reads as the same value
    (``1.0e10`` from 1e10 on and below 1e-5).

    Columns of times, binary and decimals become text first, then arro3 writes the whole batch. Rows that arro3 would
    write otherwise (NaN) are written one by one; so is a batch with such values inside arrays or maps or, when null
    fields are left out, with a null map value.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._schema = schema
        self._keep_nulls = not options.ignore_null_fields
        self._converter = ArrowJsonConverter(schema, options)
        self._exact = JsonExactWriter(schema, options)

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one object a row; a null field is written as null unless null fields are left out."""
        check_insertions("json", self._schema, rows, row_kinds)
        batch = self._converter.convert(rows)
        text = self._text(batch)
        if text and batch.exact is None:
            return Payloads(_column_of_lines(text, rows.num_rows))
        return Payloads(*self._framed(batch, text, b"", b""))

    def framed(self, rows: pa.RecordBatch, head: bytes, tail: bytes) -> tuple[list[bytes], int | None]:
        """Write a batch that was checked, each object within a prefix and a suffix.

        Args:
            rows: The batch.
            head: The bytes before each object, without line breaks.
            tail: The bytes after each object.

        Returns:
            The messages, and their size in bytes where that is known.
        """
        batch = self._converter.convert(rows)
        return self._framed(batch, self._text(batch), head, tail)

    def _framed(
        self, batch: ArrowJsonBatch, text: bytes | None, head: bytes, tail: bytes
    ) -> tuple[list[bytes], int | None]:
        if text is None:
            return [head + line + tail for line in self._exact.write(batch.rows)], None
        lines, size = _lines(text, batch.rows.num_rows, head, tail)
        if batch.exact is None:
            return lines, size
        for index in np.flatnonzero(batch.exact).tolist():
            lines[index] = head + self._exact.write(batch.rows.slice(index, 1))[0] + tail
        return lines, None

    def _text(self, batch: ArrowJsonBatch) -> bytes | None:
        """Write the rows as JSON, one a line; None where all need the exact writer."""
        from arro3.io import write_ndjson

        if batch.exact is True:
            return None
        if not batch.rows.num_rows:
            return b""
        out = io.BytesIO()
        write_ndjson(batch.rows, out, explicit_nulls=self._keep_nulls)
        if not batch.numbers:
            return out.getvalue()
        text, numbers = unquote_numbers(out.getvalue())
        # If there are more, some are texts that look like marked numbers
        return text if numbers == batch.numbers else None


def _column_of_lines(text: bytes, count: int) -> pa.BinaryArray:
    """Split lines into a column, without a Python object for each."""
    # Line breaks within strings are escaped, and the last one ends the text
    lines = pc.split_pattern(pa.array([text], pa.binary()), b"\n").values
    if len(lines) != count + 1:
        raise AssertionError(f"{count} rows became {len(lines) - 1} lines of JSON")
    return lines.slice(0, count)


def _lines(text: bytes, count: int, head: bytes, tail: bytes) -> tuple[list[bytes], int]:
    """Split lines, put each between head and tail, and return them and their size in bytes."""
    if not count:
        return [], 0
    # Line breaks within strings are escaped
    if head or tail:
        text = head + text[:-1].replace(b"\n", tail + b"\n" + head) + tail + b"\n"
    lines = text.split(b"\n")
    lines.pop()
    if len(lines) != count:
        raise AssertionError(f"{count} rows became {len(lines)} lines of JSON")
    return lines, len(text) - len(lines)
