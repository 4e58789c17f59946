"""The fast path: ptars, for the messages that protobuf's own library takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from millrace_formats.protobuf.ptars.handler import is_refusal
from millrace_formats.protobuf.reader.parser import MessageParser
from millrace_formats.protobuf.reader.ptars_columns import struct_columns
from millrace_formats.protobuf.schema.fields import Struct
from millrace_formats.shared.fallback_decoder import FastRows, PayloadList, drop_indices, indices_except


class PtarsReader:
    """Reads messages with ptars, leaving what it cannot read exactly.

    ptars takes some bytes that are no message, and fails on others in the middle of a batch. So each message is first
    parsed by protobuf's own library, which costs less than half of what reading it so would.

    Args:
        parser: Parses messages.
        handler: ptars' handler of the row.
        row: The columns.
        schema: The same, as Arrow has them.
    """

    def __init__(self, parser: MessageParser, handler: Any, row: Struct, schema: pa.Schema) -> None:
        self._parser = parser
        self._convert = handler.list_to_record_batch
        self._row = row
        self._schema = schema

    def read(self, items: PayloadList) -> FastRows:
        """Read what ptars takes and reads exactly."""
        unreadable = self._parser.unreadable(items)
        fit = drop_indices(items, unreadable)
        refused: set[int] = set()
        parts = self._converted(fit, 0, refused)
        found = indices_except(len(items), unreadable) if unreadable else None
        if refused:
            found = np.delete(np.arange(len(fit), dtype=np.int32) if found is None else found, list(refused))
        wrong: list[np.ndarray] = []
        columns = struct_columns(self._row, pa.concat_arrays(parts), wrong.append)
        return FastRows(pa.RecordBatch.from_arrays(columns, schema=self._schema), found, wrong)

    def _converted(self, items: list[Any], start: int, refused: set[int]) -> list[pa.StructArray]:
        """The messages as ptars reads them, without those that it refuses, whose positions are added to ``refused``."""
        try:
            return [self._convert(items).to_struct_array()]
        except BaseException as error:
            if not is_refusal(error):
                raise
        if len(items) == 1:
            refused.add(start)
            return [self._convert([]).to_struct_array()]
        half = len(items) // 2
        first = self._converted(items[:half], start, refused)
        return first + self._converted(items[half:], start + half, refused)
