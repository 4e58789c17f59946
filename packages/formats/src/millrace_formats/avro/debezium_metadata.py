"""What a change of Debezium's tells beside its rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND

INSTANT = pa.timestamp("us", "UTC")
TEXTS = pa.map_(pa.string(), pa.string())

TYPES = {
    "ingestion-timestamp": INSTANT,
    "source.timestamp": INSTANT,
    "source.database": pa.string(),
    "source.schema": pa.string(),
    "source.table": pa.string(),
    "source.properties": TEXTS,
}
"""The keys, and their types."""

_INNER = {"source.database": "db", "source.schema": "schema", "source.table": "table"}
_MILLISECOND = 1000


def metadata_fields(keys: Sequence[str]) -> list[pa.Field]:
    """The fields of the envelope that have to be read for some keys."""
    fields = []
    if "ingestion-timestamp" in keys:
        fields.append(pa.field("ts_ms", pa.int64()))
    if any(key.startswith("source.") for key in keys):
        fields.append(pa.field("source", TEXTS))
    return fields


def metadata_of(envelopes: pa.RecordBatch, keys: Sequence[str]) -> pa.RecordBatch:
    """For each message what it tells, a column for each key."""
    return pa.RecordBatch.from_arrays([_column(envelopes, key) for key in keys], names=list(keys))


def _column(envelopes: pa.RecordBatch, key: str) -> pa.Array:
    if key == "ingestion-timestamp":
        return _instants(envelopes.column("ts_ms"))
    source = envelopes.column("source")
    if key == "source.properties":
        return source
    if key == "source.timestamp":
        return _instants(_digits(pc.map_lookup(source, "ts_ms", "first")).cast(pa.int64()))
    return pc.map_lookup(source, _INNER[key], "first")


def _digits(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$"), texts, pa.scalar(None, pa.string()))


def _instants(millis: pa.Int64Array) -> pa.TimestampArray:
    low, high = FIRST_MICROSECOND // _MILLISECOND, LAST_MICROSECOND // _MILLISECOND
    known = pc.and_(pc.greater_equal(millis, low), pc.less_equal(millis, high))
    return pc.multiply(pc.if_else(known, millis, pa.scalar(None, pa.int64())), _MILLISECOND).cast(INSTANT)
