"""The json decoder: a fast reader for messages as they usually are, the exact reader for all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from millrace.contracts import BadMessage, Decoded, Decoder, Payloads

from millrace_formats.interleave import interleave
from millrace_formats.json.columns import struct_columns
from millrace_formats.json.exact import BadMessageError, ExactReader
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.shapes import struct_shape


class JsonDecoder(Decoder):
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
        self._schema = schema
        self._exact = ExactReader(schema, options)
        self._fast = _FastReader.of(schema, options)

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch: most messages at once, the others one by one."""
        items = payloads.to_list()
        if self._fast is None:
            return self._complete(items, _empty(self._schema), np.empty(0, np.int32), range(len(items)))
        fast, found = self._fast.read(items)
        if found is None:
            return Decoded(fast)
        missing = np.ones(len(items), bool)
        missing[found] = False
        return self._complete(items, fast, found, np.flatnonzero(missing).tolist())

    def _complete(
        self, items: Sequence[bytes | None], fast: pa.RecordBatch, found: np.ndarray, others: Sequence[int]
    ) -> Decoded:
        """Add the rows of the messages that the fast reader left, each in its place."""
        rows: list[tuple[Any, ...]] = []
        indexes: list[int] = []
        errors: list[BadMessage] = []
        for index in others:
            try:
                row = self._exact.read(items[index])
            except BadMessageError as error:
                errors.append(BadMessage(index, str(error)))
                continue
            if row is not None:
                rows.append(row)
                indexes.append(index)
        if rows:
            exact = _batch(rows, self._schema)
            fast, found = interleave(fast, found, exact, np.array(indexes, np.int32))
        return Decoded(fast, None if len(found) == len(items) else pa.array(found, pa.int32()), errors=tuple(errors))


class _FastReader:
    """Reads messages with msgspec, leaving what it cannot read exactly."""

    def __init__(self, schema: pa.Schema, shape: type[msgspec.Struct], columns: Callable[..., list[pa.Array]]) -> None:
        self._schema = schema
        self._decode = msgspec.json.Decoder(shape).decode
        self._columns = columns

    @classmethod
    def of(cls, schema: pa.Schema, options: JsonOptions) -> _FastReader | None:
        """A reader for a schema, or None when msgspec cannot read it."""
        fields = list(schema)
        shape = struct_shape(fields, options.fail_on_missing_field) if fields else None
        return None if shape is None else cls(schema, shape, struct_columns(fields, options.iso))

    def read(self, items: Sequence[bytes | None]) -> tuple[pa.RecordBatch, np.ndarray | None]:
        """Read what can be read.

        Returns:
            The rows, and for each the index of its message, int32; None instead when it is every message, in order.
        """
        structs, left = self._structs(items)
        left |= _not_utf8(items, left)
        found = None
        if left:
            found = _others(len(items), left)
            structs = [structs[index] for index in found.tolist()]
        rejected: list[np.ndarray] = []
        batch = pa.RecordBatch.from_arrays(self._columns(structs, rejected.append), schema=self._schema)
        if rejected:
            kept = np.ones(len(structs), bool)
            kept[np.concatenate(rejected)] = False
            batch = batch.filter(pa.array(kept))
            found = (np.arange(len(items), dtype=np.int32) if found is None else found)[kept]
        return batch, found

    def _structs(self, items: Sequence[bytes | None]) -> tuple[list[Any], set[int]]:
        """The message's structs, None for the ones that msgspec refused, and the indexes of those."""
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


def _not_utf8(items: Sequence[bytes | None], left: set[int]) -> set[int]:
    """Which messages are not UTF-8; msgspec checks the fields that it keeps, not those that it skips."""
    present = [b"" if index in left else item for index, item in enumerate(items)] if left else items
    joined = b"\n".join(present)  # type: ignore[arg-type]
    if joined.isascii() or _is_utf8(joined):
        return set()
    return {index for index, item in enumerate(present) if item and not _is_utf8(item)}


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _others(count: int, left: set[int]) -> np.ndarray:
    kept = np.ones(count, bool)
    kept[list(left)] = False
    return np.flatnonzero(kept).astype(np.int32)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
