"""The encoder of changes: rows as json writes them, within a tool's messages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Encoder, Payloads
from millrace.errors import MessageError
from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.row_changes import DELETE, UPDATE_BEFORE, kind_names
from millrace_formats.json.encoder import JsonEncoder
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.insert_only import check_insertions


class ChangeEncoder(Encoder):
    """Write each row as a message of its own: ``+I`` and ``+U`` as an insertion, ``-U`` and ``-D`` as a deletion.

    The two rows of an update may be far apart, or on their way to different partitions, so that no message can hold
    both; the reference writes them the same way.

    Args:
        schema: The columns.
        layout: The layout of messages.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, layout: Layout, options: JsonOptions) -> None:
        self._schema = schema
        self._rows = JsonEncoder(schema, options)
        with_nulls = not options.ignore_null_fields
        self._frames = [layout.frame(is_insertion, with_nulls) for is_insertion in (True, False)]
        self._heads, self._tails = zip(*self._frames, strict=True)
        self._null_row = _null_row(schema, options) if layout.needs_columns and not with_nulls else None

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch; MessageError when a value cannot be written, or a row kind is not valid."""
        check_insertions("json", self._schema, rows, None)
        inserted, deleted = self._frames
        are_deletions = np.zeros(rows.num_rows, bool) if row_kinds is None else _are_deletions(row_kinds)
        if not are_deletions.any() or (are_deletions.all() and self._null_row is None):
            return Payloads(*self._rows.framed(rows, *(deleted if are_deletions.any() else inserted)))
        lines, _ = self._rows.framed(rows, b"", b"")
        if self._null_row is not None:
            lines = [
                self._null_row if is_deletion and line == b"{}" else line
                for line, is_deletion in zip(lines, are_deletions.tolist(), strict=True)
            ]
        frames = are_deletions.tolist()
        heads, tails = map(self._heads.__getitem__, frames), map(self._tails.__getitem__, frames)
        return Payloads(list(map(b"".join, zip(heads, lines, tails, strict=True))))


def _null_row(schema: pa.Schema, options: JsonOptions) -> bytes | None:
    """Return the JSON of a row of NULLs, with their names; None where no row can be one.

    Without their names, an old row would be read as a missing one.
    """
    if not all(field.nullable for field in schema):
        return None
    encoder = JsonEncoder(schema, replace(options, ignore_null_fields=False))
    nulls = pa.RecordBatch.from_arrays([pa.nulls(1, field.type) for field in schema], schema=schema)
    (line,), _ = encoder.framed(nulls, b"", b"")
    return line


def _are_deletions(row_kinds: pa.StringArray) -> np.ndarray:
    """Return a mask of the rows that are written as deletions."""
    numbers = pc.index_in(row_kinds, kind_names())
    if numbers.null_count:
        row = pc.index(numbers.is_null(), True).as_py()
        raise MessageError(f"row {row}: expected a row kind of +I, -U, +U, -D, found {row_kinds[row].as_py()!r}")
    kinds = numbers.to_numpy()
    mask: np.ndarray = (kinds == UPDATE_BEFORE) | (kinds == DELETE)
    return mask
