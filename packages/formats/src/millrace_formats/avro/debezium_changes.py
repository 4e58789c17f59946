"""Rows of changes from Debezium's envelopes, and envelopes from rows of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import ROW_KINDS, MalformedMessage
from millrace.errors import MalformedMessageError, MessageError

_INSERTED, _OLD, _NEW, _DELETED = range(len(ROW_KINDS))
_CREATE, _READ, _UPDATE, _DELETE = _OPERATIONS = ("c", "r", "u", "d")
_WORDS = {"c": "an insertion", "r": "an insertion", "u": "an update", "d": "a deletion"}


class Changes(NamedTuple):
    """Rows of changes.

    Attributes:
        rows: The rows.
        kinds: Their kinds.
        of: For each the position of its envelope, never decreasing.
        errors: The envelopes that are none, by their positions.
    """

    rows: pa.RecordBatch
    kinds: pa.StringArray
    of: np.ndarray
    errors: list[MalformedMessage]


def envelope_fields(schema: pa.Schema) -> list[pa.Field]:
    """The columns of an envelope: the row before, the row after, and what was done."""
    row = pa.struct(list(schema))
    return [pa.field("before", row), pa.field("after", row), pa.field("op", pa.string())]


def changes_of(envelopes: pa.RecordBatch, schema: pa.Schema) -> Changes:
    """The rows of envelopes: of an update two, its old row before its new one."""
    before, after, operations = (envelopes.column(name) for name in ("before", "after", "op"))
    codes = pc.index_in(operations, pa.array(_OPERATIONS)).fill_null(-1).to_numpy()
    has_before, has_after = _there(before), _there(after)
    inserts, updates, deletes = codes <= _OPERATIONS.index(_READ), codes == 2, codes == 3
    good = (codes >= 0) & (has_after | deletes) & (has_before | inserts)
    errors = [_error(position, envelopes) for position in np.flatnonzero(~good).tolist()]
    count = envelopes.num_rows
    if inserts.all() and not errors:
        rows = pa.RecordBatch.from_arrays([after.field(i) for i in range(len(schema))], schema=schema)
        return Changes(rows, _names(np.zeros(count, np.int8)), np.arange(count, dtype=np.int32), [])
    first = np.where(inserts, count, 0) + np.arange(count)
    places = np.stack([first, count + np.arange(count)], axis=1)
    kinds = np.stack([np.where(inserts, _INSERTED, np.where(updates, _OLD, _DELETED)), np.full(count, _NEW)], axis=1)
    wanted = np.stack([good, good & updates], axis=1)
    taken = pa.array(places[wanted])
    columns = [pa.concat_arrays([before.field(i), after.field(i)]).take(taken) for i in range(len(schema))]
    of = np.repeat(np.arange(count, dtype=np.int32), wanted.sum(axis=1))
    return Changes(pa.RecordBatch.from_arrays(columns, schema=schema), _names(kinds[wanted]), of, errors)


def envelopes_of(rows: pa.RecordBatch, row_kinds: pa.StringArray | None) -> pa.RecordBatch:
    """An envelope for each row: ``+I`` and ``+U`` as an insertion, ``-U`` and ``-D`` as a deletion.

    Raises:
        MessageError: A row kind is none.
    """
    gone = _gone(rows.num_rows, row_kinds)
    fields = list(rows.schema)
    before, after = (
        pa.StructArray.from_arrays(rows.columns, fields=fields, mask=mask) for mask in (pc.invert(gone), gone)
    )
    operations = pc.if_else(gone, _DELETE, _CREATE)
    return pa.RecordBatch.from_arrays([before, after, operations], schema=pa.schema(envelope_fields(rows.schema)))


def _there(rows: pa.StructArray) -> np.ndarray:
    found: np.ndarray = rows.is_valid().to_numpy(zero_copy_only=False)
    return found


def _names(kinds: np.ndarray) -> pa.StringArray:
    return pa.array(ROW_KINDS, pa.string()).take(pa.array(kinds))


def _gone(count: int, row_kinds: pa.StringArray | None) -> pa.BooleanArray:
    if row_kinds is None:
        return pa.array(np.zeros(count, bool))
    known = pc.is_in(row_kinds, pa.array(ROW_KINDS))
    index = pc.index(known, False).as_py()
    if index >= 0:
        found = row_kinds[index].as_py()
        raise MessageError(f"row {index}: expected a row kind of {', '.join(ROW_KINDS)}, found {found!r}")
    return pc.is_in(row_kinds, pa.array([ROW_KINDS[_OLD], ROW_KINDS[_DELETED]]))


def _error(position: int, envelopes: pa.RecordBatch) -> MalformedMessage:
    operation = envelopes.column("op")[position].as_py()
    if operation not in _WORDS:
        what = "null" if operation is None else repr(operation)
        error = MalformedMessageError(f"expected one of {', '.join(_OPERATIONS)}, found {what}", "op")
    elif operation in (_UPDATE, _DELETE) and not envelopes.column("before")[position].is_valid:
        error = MalformedMessageError(
            f"it is null, though the operation is {operation!r}, {_WORDS[operation]}: the database does not tell the "
            f"old row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL",
            "before",
        )
    else:
        error = MalformedMessageError(
            f"it is null, though the operation is {operation!r}, {_WORDS[operation]}", "after"
        )
    return MalformedMessage(position, str(error))


def merged(errors: Sequence[MalformedMessage], more: Sequence[MalformedMessage]) -> tuple[MalformedMessage, ...]:
    """Errors of both, by their messages."""
    return tuple(sorted([*errors, *more], key=lambda error: error.index))
