"""Decode messages without a frame, which are all of one schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.avro.reader.batch_reader import PyruhvroReader, merge_in_order
from millrace_formats.avro.reader.datum_reader import DatumReader, to_row
from millrace_formats.avro.reader.json_reader import json_reader, load_json
from millrace_formats.avro.reader.read_plan import ReadPlan
from millrace_formats.avro.schema.pyruhvro_schema import UnsupportedByPyruhvroError
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList

NOT_FAST = (
    "a union of several types, a record without fields or within itself, an array of items that take no bytes, or a "
    "fixed whose size is no multiple of 4"
)
EXACT_ONLY = "those with a value that the library refuses or may not read exactly"


class AvroDecoder(FallbackDecoder):
    """Decode Avro's binary encoding.

    A message takes one of two paths, with the same result: pyruhvro reads many at once, and what it cannot read, found
    by reading ever smaller parts, is read one by one. Messages of a schema that pyruhvro does not read exactly, such as
    one with unions of several types, are all read one by one.

    Args:
        schema: The columns.
        plan: How messages become rows.
    """

    def __init__(self, schema: pa.Schema, plan: ReadPlan) -> None:
        reader = batch_reader(plan, schema)
        super().__init__(schema, None if reader is None else _FastReader(schema, reader), DatumReader(plan))

    def _no_fast_reason(self) -> str:
        return f"the schema has {NOT_FAST}"

    def _exact_only(self) -> str:
        return EXACT_ONLY


class AvroJsonDecoder(FallbackDecoder):
    """Decode Avro's JSON encoding, one message at a time.

    Args:
        schema: The columns.
        plan: How messages become rows.
    """

    def __init__(self, schema: pa.Schema, plan: ReadPlan) -> None:
        super().__init__(schema, None, _JsonExactReader(plan))

    def _no_fast_reason(self) -> str:
        return "the encoding is json"


def batch_reader(plan: ReadPlan, schema: pa.Schema, frame: bytes = b"") -> PyruhvroReader | None:
    """Return the fast reader of a plan, or None where there is none."""
    try:
        return PyruhvroReader(plan, schema, frame)
    except UnsupportedByPyruhvroError:
        return None


class _FastReader:
    def __init__(self, schema: pa.Schema, reader: PyruhvroReader) -> None:
        self._schema = schema
        self._reader = reader

    def read(self, payloads: PayloadList) -> FastRows:
        """Read the messages that pyruhvro reads exactly."""
        batch = self._reader.read(payloads)
        return merge_in_order([] if batch is None else [batch], self._schema, len(payloads))


class _JsonExactReader:
    def __init__(self, plan: ReadPlan) -> None:
        self._read = json_reader(plan)

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None for a null payload."""
        if payload is None:
            return None
        try:
            return to_row(self._read(load_json(payload)))
        except RecursionError:
            raise MalformedMessageError("nested too deeply") from None
