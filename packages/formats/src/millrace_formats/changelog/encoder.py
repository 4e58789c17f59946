"""The encoder of changes: rows as json writes them, in the frames of a tool's messages."""

from __future__ import annotations

from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Encoder, Payloads
from millrace.errors import MessageError
from millrace_formats.changelog.changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, kind_names
from millrace_formats.changelog.layout import Layout
from millrace_formats.json.encoder import JsonEncoder
from millrace_formats.json.options import JsonOptions


class ChangeEncoder(Encoder):
    """Writes each row as a message of its own: ``+I`` and ``+U`` as an insertion, ``-U`` and ``-D`` as a deletion.

    The two rows of an update may be far apart, or on their way to different partitions, so that no message can hold
    both; the reference writes them the same way.

    Args:
        schema: The columns.
        layout: How messages are laid out.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, layout: Layout, options: JsonOptions) -> None:
        self._rows = JsonEncoder(schema, options)
        with_nulls = not options.ignore_null_fields
        inserted, deleted = layout.frame(True, with_nulls), layout.frame(False, with_nulls)
        by_kind = {INSERT: inserted, UPDATE_BEFORE: deleted, UPDATE_AFTER: inserted, DELETE: deleted}
        self._frames = [by_kind[kind] for kind in sorted(by_kind)]

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch; MessageError when a value cannot be written, or a row kind is none."""
        lines = cast(list[bytes], self._rows.encode(rows).to_list())
        if row_kinds is None:
            head, tail = self._frames[INSERT]
            return Payloads([b"%b%b%b" % (head, line, tail) for line in lines])
        frames, kinds = self._frames, _numbers(row_kinds)
        framed = zip(map(frames.__getitem__, kinds), lines, strict=True)
        return Payloads([b"%b%b%b" % (head, line, tail) for (head, tail), line in framed])


def _numbers(row_kinds: pa.StringArray) -> list[int]:
    numbers = pc.index_in(row_kinds, kind_names())
    if numbers.null_count:
        row = pc.index(numbers.is_null(), True).as_py()
        raise MessageError(f"row {row}: expected a row kind of +I, -U, +U, -D, found {row_kinds[row].as_py()!r}")
    kinds: list[int] = numbers.to_numpy().tolist()
    return kinds
