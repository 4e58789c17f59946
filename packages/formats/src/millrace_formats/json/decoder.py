"""The json decoder: msgspec for messages as they usually are, the exact reader for all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from millrace_formats.json.columns import struct_columns
from millrace_formats.json.decode_each import decode_each
from millrace_formats.json.exact_reader import JsonExactReader
from millrace_formats.json.msgspec_types import struct_type
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList, indices_except

OF_ANOTHER_TYPE = (
    "those with a value that is not of its column's own JSON type (text for a number, a fraction for an integer, an "
    "unusual time)"
)


class JsonDecoder(FallbackDecoder):
    """Reads JSON objects into rows.

    Every message takes one of two paths, with the same result. The fast one reads with msgspec into a class generated
    for the schema and builds columns at once; it takes messages whose values have their column's own JSON type: numbers
    for numbers, strings for text, times and base64, ``true`` and ``false``. Any other message (text in a number's
    column, a fraction for an integer, an unusual timestamp, broken JSON, an empty payload) is read by the exact reader,
    alone. A schema with a map whose keys are not strings, or with a name that holds a quote or control character, takes
    the exact path only.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        super().__init__(schema, _MsgspecReader.of(schema, options), JsonExactReader(schema, options))

    def _no_fast_reason(self) -> str:
        names = [field.name for field in self._schema if struct_type([field], all_required=False) is None]
        what = "holds a map whose keys are not STRING, or a name with a quote or a control character"
        return f"column {', '.join(names)} {what}"

    def _exact_only(self) -> str:
        return OF_ANOTHER_TYPE


class _MsgspecReader:
    """Reads messages with msgspec, leaving what it cannot read exactly."""

    def __init__(self, schema: pa.Schema, shape: type[msgspec.Struct], columns: Callable[..., list[pa.Array]]) -> None:
        self._schema = schema
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(shape).decode
        self._columns = columns

    @classmethod
    def of(cls, schema: pa.Schema, options: JsonOptions) -> _MsgspecReader | None:
        """A reader for a schema, or None when msgspec cannot read it."""
        fields = list(schema)
        shape = struct_type(fields, options.fail_on_missing_field)
        return None if shape is None else cls(schema, shape, struct_columns(fields, options.iso))

    def read(self, items: PayloadList) -> FastRows:
        """Read what msgspec and the column-wise parsers take."""
        structs, left = decode_each(self._decode, items)
        wrong: list[np.ndarray] = []
        rows = pa.RecordBatch.from_arrays(self._columns(structs, wrong.append), schema=self._schema)
        return FastRows(rows, indices_except(len(items), left) if left else None, wrong)
