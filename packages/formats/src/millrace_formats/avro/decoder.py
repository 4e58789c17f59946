"""The decoder of messages that have no frame: all of one schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.avro.binary_reader import Cursor, binary_reader
from millrace_formats.avro.combine import combine
from millrace_formats.avro.fast_reader import FastReader
from millrace_formats.avro.json_reader import json_reader, parse_json
from millrace_formats.avro.plan import Plan
from millrace_formats.avro.wire import NotFastError
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList


class AvroDecoder(FallbackDecoder):
    """Reads Avro's binary encoding into rows.

    Every message takes one of two paths, with the same result. The fast one reads all at once; messages that it
    cannot read are found by reading ever smaller parts, and read one by one. A schema that holds what `wire` does not
    have, such as unions of several types, takes the second path only.

    Args:
        schema: The columns.
        plan: How messages become rows.
    """

    def __init__(self, schema: pa.Schema, plan: Plan) -> None:
        super().__init__(schema, _fast(schema, plan), BinaryExactReader(plan))

    def _no_fast_reason(self) -> str:
        return f"the schema has {NOT_FAST}"

    def _exact_only(self) -> str:
        return REFUSED


NOT_FAST = (
    "a union of several types, a record without fields or within itself, an array of items that take no bytes, or a "
    "fixed of some size"
)
REFUSED = "those with a value that the library refuses or may not read exactly"


class AvroJsonDecoder(FallbackDecoder):
    """Reads Avro's JSON encoding into rows, one message at a time.

    Args:
        schema: The columns.
        plan: How messages become rows.
    """

    def __init__(self, schema: pa.Schema, plan: Plan) -> None:
        super().__init__(schema, None, _JsonExactReader(plan))

    def _no_fast_reason(self) -> str:
        return "the encoding is json"


def fast_reader(plan: Plan, schema: pa.Schema, frame: bytes = b"") -> FastReader | None:
    """The fast reader, or None where the plan has none."""
    try:
        return FastReader(plan, schema, frame)
    except NotFastError:
        return None


def _fast(schema: pa.Schema, plan: Plan) -> _WholeBatch | None:
    reader = fast_reader(plan, schema)
    return None if reader is None else _WholeBatch(schema, reader)


class _WholeBatch:
    def __init__(self, schema: pa.Schema, reader: FastReader) -> None:
        self._schema = schema
        self._reader = reader

    def read(self, items: PayloadList) -> FastRows:
        """Read what the fast reader takes."""
        found = self._reader.read(items)
        return combine([] if found is None else [found], self._schema, len(items))


class BinaryExactReader:
    """Reads messages of the binary encoding one at a time.

    Args:
        plan: How they become rows.
    """

    def __init__(self, plan: Plan) -> None:
        self._read = binary_reader(plan)

    def read(self, payload: bytes | None, at: int = 0) -> tuple[Any, ...] | None:
        """The values of a message's columns; None for a null payload.

        Args:
            payload: The message.
            at: Where its value begins.

        Raises:
            MalformedMessageError: It cannot be decoded.
        """
        if payload is None:
            return None
        try:
            return row_of(self._read(Cursor(payload, at)))
        except RecursionError:
            raise MalformedMessageError("nested too deeply") from None


class _JsonExactReader:
    def __init__(self, plan: Plan) -> None:
        self._read = json_reader(plan)

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """The values of a message's columns; None for a null payload."""
        if payload is None:
            return None
        try:
            return row_of(self._read(parse_json(payload)))
        except RecursionError:
            raise MalformedMessageError("nested too deeply") from None


def row_of(value: dict[str, Any] | None) -> tuple[Any, ...]:
    """The values of a row; MalformedMessageError when there is none."""
    if value is None:
        raise MalformedMessageError("it is null, where a record was expected")
    return tuple(value.values())
