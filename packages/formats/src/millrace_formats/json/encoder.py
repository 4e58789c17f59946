"""The json encoder: arro3 for batches as they usually are, row by row for what it cannot write exactly."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa

from millrace.contracts import Encoder, Payloads
from millrace_formats.json.encode_exact import ExactWriter
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.printable import Printer
from millrace_formats.rows_only import check_rows


class JsonEncoder(Encoder):
    """Writes rows as JSON objects, one field a column, in the columns' order.

    Timestamps are written with as many digits of fraction as needed, TIMESTAMP in UTC and with ``Z``; binary as base64;
    map keys as text; decimals as Java's BigDecimal does, or always plain; NaN and the infinities as text, since JSON
    numbers have none. Floats are the shortest text that reads as the same value (``1.0e10`` from 1e10 on and below
    1e-5).

    Columns of times and binary are made text first, then arro3 writes the whole batch. Rows that arro3 would write
    otherwise (NaN, decimals that Java writes in scientific notation) are written one by one; so is a batch that holds
    such values inside arrays or maps or, when null fields are left out, a null map value.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._schema = schema
        self._keep_nulls = not options.ignore_null_fields
        self._printer = Printer(schema, options)
        self._exact = ExactWriter(schema, options)

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one object a row; a null field is written as null unless null fields are left out."""
        check_rows("json", self._schema, rows, row_kinds)
        printable = self._printer.printable(rows)
        if printable.exact is True:
            return Payloads(self._exact.write(printable.rows))
        lines, size = self._lines(printable.rows)
        if printable.exact is None:
            return Payloads(lines, size)
        for index in np.flatnonzero(printable.exact).tolist():
            lines[index] = self._exact.write(printable.rows.slice(index, 1))[0]
        return Payloads(lines)

    def _lines(self, rows: pa.RecordBatch) -> tuple[list[bytes], int]:
        """The rows' JSON, and how many bytes that has."""
        from arro3.io import write_ndjson

        if not rows.num_rows:
            return [], 0
        out = io.BytesIO()
        write_ndjson(rows, out, explicit_nulls=self._keep_nulls)
        # line breaks within strings are escaped
        text = out.getvalue()
        lines = text.split(b"\n")
        lines.pop()
        if len(lines) != rows.num_rows:
            raise AssertionError(f"{rows.num_rows} rows became {len(lines)} lines of JSON")
        return lines, len(text) - len(lines)
