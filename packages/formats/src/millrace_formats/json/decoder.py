"""The json decoder: msgspec for most messages, the exact reader for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Payloads
from millrace_formats.json.columns import struct_columns
from millrace_formats.json.decode_each import decode_each
from millrace_formats.json.exact_reader import JsonExactReader
from millrace_formats.json.missing_fields import warn_of_missing_fields
from millrace_formats.json.msgspec_types import struct_type
from millrace_formats.json.options import JsonOptions
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList, indices_except

EXACT_ONLY = (
    "those with a value that is not of its column's own JSON type (text for a number, a fraction for an integer, an "
    "unusual time)"
)


class JsonDecoder(FallbackDecoder):
    """Decode JSON objects to rows.

    Two readers give the same rows. The fast one reads messages with msgspec into a class generated for the schema, and
    builds columns of a whole batch. It takes values of their column's own JSON type: numbers for numbers, strings for
    text, times and base64, ``true`` and ``false``. Any other message (text in a number's column, a fraction for an
    integer, an unusual timestamp, broken JSON, an empty payload) goes to the exact reader, alone. A schema with a map
    whose keys are not strings, or with a name that holds a quote or control character, has the exact reader only.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        super().__init__(schema, _MsgspecReader.of(schema, options), JsonExactReader(schema, options))
        self._is_checked = False

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; columns of which the first batch has no field are logged."""
        decoded = super().decode(payloads)
        if not self._is_checked and decoded.rows.num_rows:
            self._is_checked = True
            warn_of_missing_fields(decoded.rows, payloads)
        return decoded

    def _no_fast_reason(self) -> str:
        names = [field.name for field in self._schema if struct_type([field], all_required=False) is None]
        reason = "holds a map whose keys are not STRING, or a name with a quote or a control character"
        return f"column {', '.join(names)} {reason}"

    def _exact_only(self) -> str:
        return EXACT_ONLY


class _MsgspecReader:
    """Read messages with msgspec, leaving those that it cannot read exactly."""

    def __init__(self, schema: pa.Schema, row: type[msgspec.Struct], columns: Callable[..., list[pa.Array]]) -> None:
        self._schema = schema
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(row).decode
        self._columns = columns

    @classmethod
    def of(cls, schema: pa.Schema, options: JsonOptions) -> _MsgspecReader | None:
        """Make a reader for a schema; None when msgspec cannot read it."""
        fields = list(schema)
        row = struct_type(fields, options.fail_on_missing_field)
        return None if row is None else cls(schema, row, struct_columns(fields, options.iso))

    def read(self, payloads: PayloadList) -> FastRows:
        """Read the messages that msgspec and the parsers of columns take."""
        structs, refused = decode_each(self._decode, payloads)
        rejected: list[np.ndarray] = []
        rows = pa.RecordBatch.from_arrays(self._columns(structs, rejected.append), schema=self._schema)
        return FastRows(rows, indices_except(len(payloads), refused) if refused else None, rejected)
