"""Read messages with ptars, after protobuf's own library has checked them."""

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
    """Read messages with ptars, leaving those that it cannot read exactly.

    ptars accepts some bytes that are not a message, and fails on others in the middle of a batch. So protobuf's own
    library first parses each message, which costs less than half of reading it field by field.

    Args:
        parser: Parses messages.
        handler: ptars' handler of the row.
        row: The columns and their protobuf fields.
        schema: The columns.
    """

    def __init__(self, parser: MessageParser, handler: Any, row: Struct, schema: pa.Schema) -> None:
        self._parser = parser
        self._convert = handler.list_to_record_batch
        self._row = row
        self._schema = schema

    def read(self, payloads: PayloadList) -> FastRows:
        """Read the messages that ptars reads exactly."""
        unreadable = self._parser.unreadable(payloads)
        readable = drop_indices(payloads, unreadable)
        refused: set[int] = set()
        parts = self._read_parts(readable, 0, refused)
        index = indices_except(len(payloads), unreadable) if unreadable else None
        if refused:
            index = np.delete(np.arange(len(readable), dtype=np.int32) if index is None else index, list(refused))
        rejected: list[np.ndarray] = []
        columns = struct_columns(self._row, pa.concat_arrays(parts), rejected.append)
        return FastRows(pa.RecordBatch.from_arrays(columns, schema=self._schema), index, rejected)

    def _read_parts(self, payloads: list[Any], start: int, refused: set[int]) -> list[pa.StructArray]:
        """Read messages, halving the batch until ptars refuses single ones; their indices are added to ``refused``."""
        try:
            return [self._convert(payloads).to_struct_array()]
        except BaseException as error:
            if not is_refusal(error):
                raise
        if len(payloads) == 1:
            refused.add(start)
            return [self._convert([]).to_struct_array()]
        half = len(payloads) // 2
        first = self._read_parts(payloads[:half], start, refused)
        return first + self._read_parts(payloads[half:], start + half, refused)
