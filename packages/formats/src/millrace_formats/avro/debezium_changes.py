"""Convert Debezium's envelopes to rows of changes and metadata, and rows of changes to envelopes.

An envelope holds the row before a change, the row after it, the operation and its source, see
https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.change_dialects import DEBEZIUM
from millrace.contracts import ROW_KINDS, MalformedMessage
from millrace.errors import MessageError
from millrace_formats.shared.old_rows import with_advice
from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = range(len(ROW_KINDS))
_OPERATIONS = ("c", "r", "u", "d")
_CREATED, _READ, _UPDATED, _DELETED = range(len(_OPERATIONS))

_INSTANT = pa.timestamp("us", "UTC")
_TEXT_MAP = pa.map_(pa.string(), pa.string())

METADATA_TYPES = {
    "ingestion-timestamp": _INSTANT,
    "source.timestamp": _INSTANT,
    "source.database": pa.string(),
    "source.schema": pa.string(),
    "source.table": pa.string(),
    "source.properties": _TEXT_MAP,
}
"""The types of a message's metadata, by Flink's key."""

_SOURCE_FIELDS = {"source.database": "db", "source.schema": "schema", "source.table": "table"}
_MICROSECONDS_A_MILLISECOND = 1000


class DebeziumChanges(NamedTuple):
    """Rows of changes.

    Attributes:
        rows: The rows.
        kinds: Their row kinds.
        envelope_index: For each row the index of its envelope, int32, never decreasing.
        errors: The malformed envelopes, by their indices.
    """

    rows: pa.RecordBatch
    kinds: pa.StringArray
    envelope_index: np.ndarray
    errors: list[MalformedMessage]


def envelope_fields(schema: pa.Schema) -> list[pa.Field]:
    """Return the columns of an envelope: the row before, the row after, and the operation."""
    row = pa.struct(list(schema))
    return [pa.field("before", row), pa.field("after", row), pa.field("op", pa.string())]


def changes_of(envelopes: pa.RecordBatch, schema: pa.Schema, *, upserts: bool = False) -> DebeziumChanges:
    """Return the rows of envelopes; an update gives its old row and then its new one.

    Args:
        envelopes: The envelopes.
        schema: The columns of rows.
        upserts: Whether an update without its old row is its new row alone.
    """
    before, after, operations = (envelopes.column(name) for name in ("before", "after", "op"))
    codes = pc.index_in(operations, pa.array(_OPERATIONS)).fill_null(-1).to_numpy()
    has_before, has_after = (rows.is_valid().to_numpy(zero_copy_only=False) for rows in (before, after))
    is_insert, is_update, is_delete = codes <= _READ, codes == _UPDATED, codes == _DELETED
    is_upsert = is_update & has_after & ~has_before & upserts
    is_valid = (codes >= 0) & (has_after | is_delete) & (has_before | is_insert | is_upsert)
    is_skipped = pc.is_in(operations, pa.array(list(DEBEZIUM.skipped_operations))).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(~is_valid & ~is_skipped)
    errors = [_envelope_error(index, envelopes) for index in wrong.tolist()]
    count = envelopes.num_rows
    if is_insert.all() and is_valid.all():
        rows = pa.RecordBatch.from_arrays([after.field(i) for i in range(len(schema))], schema=schema)
        return DebeziumChanges(rows, _kind_names(np.zeros(count, np.int8)), np.arange(count, dtype=np.int32), [])
    # Up to two rows an envelope, taken from all rows before followed by all rows after
    sources = np.stack([np.where(is_insert, count, 0) + np.arange(count), count + np.arange(count)], axis=1)
    first_kind = np.where(is_insert, _INSERT, np.where(is_update, _UPDATE_BEFORE, _DELETE))
    kinds = np.stack([first_kind, np.full(count, _UPDATE_AFTER)], axis=1)
    has_row = np.stack([is_valid & ~is_upsert, is_valid & is_update], axis=1)
    indices = pa.array(sources[has_row])
    columns = [pa.concat_arrays([before.field(i), after.field(i)]).take(indices) for i in range(len(schema))]
    envelope_index = np.repeat(np.arange(count, dtype=np.int32), has_row.sum(axis=1))
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    return DebeziumChanges(rows, _kind_names(kinds[has_row]), envelope_index, errors)


def envelopes_of(rows: pa.RecordBatch, row_kinds: pa.StringArray | None) -> pa.RecordBatch:
    """Return an envelope for each row: ``+I`` and ``+U`` as an insertion, ``-U`` and ``-D`` as a deletion.

    Raises:
        MessageError: A row kind is unknown; names the row.
    """
    is_removed = _is_removed(rows.num_rows, row_kinds)
    fields = list(rows.schema)
    before, after = (
        pa.StructArray.from_arrays(rows.columns, fields=fields, mask=mask)
        for mask in (pc.invert(is_removed), is_removed)
    )
    operations = pc.if_else(is_removed, _OPERATIONS[_DELETED], _OPERATIONS[_CREATED])
    return pa.RecordBatch.from_arrays([before, after, operations], schema=pa.schema(envelope_fields(rows.schema)))


def merge_errors(errors: Sequence[MalformedMessage], more: Sequence[MalformedMessage]) -> tuple[MalformedMessage, ...]:
    """Merge errors in the order of their messages."""
    return tuple(sorted([*errors, *more], key=lambda error: error.index))


def metadata_fields(keys: Sequence[str]) -> list[pa.Field]:
    """Return the columns of an envelope that have to be read for some keys of metadata."""
    fields = []
    if "ingestion-timestamp" in keys:
        fields.append(pa.field("ts_ms", pa.int64()))
    if any(key.startswith("source.") for key in keys):
        fields.append(pa.field("source", _TEXT_MAP))
    return fields


def metadata_of(envelopes: pa.RecordBatch, keys: Sequence[str]) -> pa.RecordBatch:
    """Return the metadata of each envelope, a column for each key."""
    return pa.RecordBatch.from_arrays([_metadata_column(envelopes, key) for key in keys], names=list(keys))


def _kind_names(kinds: np.ndarray) -> pa.StringArray:
    return pa.array(ROW_KINDS, pa.string()).take(pa.array(kinds))


def _is_removed(count: int, row_kinds: pa.StringArray | None) -> pa.BooleanArray:
    if row_kinds is None:
        return pa.array(np.zeros(count, bool))
    index = pc.index(pc.is_in(row_kinds, pa.array(ROW_KINDS)), False).as_py()
    if index >= 0:
        kind = row_kinds[index].as_py()
        raise MessageError(f"row {index}: expected a row kind of {', '.join(ROW_KINDS)}, found {kind!r}")
    return pc.is_in(row_kinds, pa.array([ROW_KINDS[_UPDATE_BEFORE], ROW_KINDS[_DELETE]]))


def _envelope_error(index: int, envelopes: pa.RecordBatch) -> MalformedMessage:
    name = envelopes.column("op")[index].as_py()
    if name not in _OPERATIONS:
        error = DEBEZIUM.unreadable_operation(name)
    else:
        is_old = name in ("u", "d") and not envelopes.column("before")[index].is_valid
        error = DEBEZIUM.missing_row("before" if is_old else "after", DEBEZIUM.operations[name], name, {})
        if is_old and name == _OPERATIONS[_UPDATED] and envelopes.column("after")[index].is_valid:
            error = with_advice(error, "debezium-avro-confluent")
    return MalformedMessage(index, str(error))


def _metadata_column(envelopes: pa.RecordBatch, key: str) -> pa.Array:
    if key == "ingestion-timestamp":
        return _to_instants(envelopes.column("ts_ms"))
    source = envelopes.column("source")
    if key == "source.properties":
        return source
    if key == "source.timestamp":
        return _to_instants(_parse_longs(pc.map_lookup(source, "ts_ms", "first")))
    return pc.map_lookup(source, _SOURCE_FIELDS[key], "first")


def _parse_longs(texts: pa.StringArray) -> pa.Int64Array:
    """Parse numbers of up to 18 digits; other texts become null."""
    is_number = pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")
    return pc.if_else(is_number, texts, pa.scalar(None, pa.string())).cast(pa.int64())


def _to_instants(millis: pa.Int64Array) -> pa.TimestampArray:
    """Convert milliseconds since the epoch to timestamps; those outside the years 0001 to 9999 become null."""
    low, high = FIRST_MICROSECOND // _MICROSECONDS_A_MILLISECOND, LAST_MICROSECOND // _MICROSECONDS_A_MILLISECOND
    fits = pc.and_(pc.greater_equal(millis, low), pc.less_equal(millis, high))
    in_range = pc.if_else(fits, millis, pa.scalar(None, pa.int64()))
    return pc.multiply(in_range, _MICROSECONDS_A_MILLISECOND).cast(_INSTANT)
