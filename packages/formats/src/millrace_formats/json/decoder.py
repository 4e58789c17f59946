"""The json decoder: msgspec for messages as they usually are, the exact reader for all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from millrace_formats.json.columns import struct_columns
from millrace_formats.json.exact import JsonExactReader
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.shapes import struct_shape
from millrace_formats.two_paths import Items, TwoPathDecoder, keep_rows, not_utf8, without


class JsonDecoder(TwoPathDecoder):
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
        shape = struct_shape(fields, options.fail_on_missing_field)
        return None if shape is None else cls(schema, shape, struct_columns(fields, options.iso))

    def read(self, items: Items) -> tuple[pa.RecordBatch, np.ndarray | None]:
        """Read what msgspec and the column-wise parsers take."""
        structs, left = self._structs(items)
        # msgspec checks the UTF-8 of the fields that it keeps, not of those that it skips
        left |= not_utf8(_blanked(items, left))
        found = None
        if left:
            found = without(len(items), left)
            structs = [structs[index] for index in found.tolist()]
        rejected: list[np.ndarray] = []
        batch = pa.RecordBatch.from_arrays(self._columns(structs, rejected.append), schema=self._schema)
        return keep_rows(batch, found, rejected)

    def _structs(self, items: Items) -> tuple[list[Any], set[int]]:
        """The messages' structs, None for the ones that msgspec refused, and the indexes of those."""
        structs: list[Any] = []
        left: set[int] = set()
        pending: Any = iter(items)
        while True:
            try:
                # extend keeps what came before the error, so that a bad message costs no second reading of the others
                structs.extend(map(self._decode, pending))
            except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
                left.add(len(structs))
                structs.append(None)
                if len(structs) + pending.__length_hint__() != len(items):
                    raise AssertionError("rows and messages got out of step") from None
            else:
                return structs, left


def _blanked(items: Items, left: set[int]) -> Sequence[bytes]:
    """The messages, empty where they are left."""
    blanked: list[Any] = list(items)
    for index in left:
        blanked[index] = b""
    return blanked
