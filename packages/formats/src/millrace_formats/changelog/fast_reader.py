"""Read changes with msgspec: a class generated for the schema reads each message; columns are built by batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.unavailable_values import PlaceholderSearch, text_placeholders
from millrace_formats.changelog.canal_values import DECLARED_TYPES, declared_binary, to_bytes
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.message_types import message_type, metadata_column
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.changelog.row_changes import DELETE, UPDATE_BEFORE, RowChanges
from millrace_formats.changelog.row_types import value_column
from millrace_formats.json.columns import Build
from millrace_formats.json.decode_each import decode_each
from millrace_formats.json.msgspec_types import attribute, list_getter
from millrace_formats.shared.column_casts import Reject
from millrace_formats.shared.fallback_decoder import PayloadList

_OLD = (UPDATE_BEFORE, DELETE)


class FastChanges(NamedTuple):
    """The rows that were read of a batch.

    Attributes:
        rows: The columns, the metadata, and the kinds as numbers.
        message_index: For each row the index of its message, int32, never decreasing.
        placeholders: Indices of placeholder rows to discard, ascending.
        unread: The indices of the messages for the exact reader, ascending.
    """

    rows: pa.RecordBatch
    message_index: np.ndarray
    placeholders: np.ndarray
    unread: list[int]


class FastChangeReader:
    """Read the messages that msgspec and the parsers of columns read exactly as the exact reader would.

    Args:
        schema: The columns, the metadata, and the kinds.
        message: The class to read messages into.
        dialect: The layout of messages, and the options of reading them.
        columns: Builders of the rows' columns.
        metadata: Builders of the metadata's columns, and whether a key is beside the payload.
        binary: The columns, by index, whose values are read as text and are bytes.
        empty_row: An old row that was read without any of the columns; None where none can be read, or it is a row.
        placeholders: The search for placeholders that the columns can hold; None for a tool that writes none.
    """

    def __init__(
        self,
        schema: pa.Schema,
        message: type[msgspec.Struct],
        dialect: Dialect,
        columns: Sequence[Build],
        metadata: Sequence[tuple[Build, bool]],
        binary: Mapping[int, str],
        empty_row: Any = None,
        placeholders: PlaceholderSearch | None = None,
    ) -> None:
        self._schema = schema
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(message).decode
        self._dialect = dialect
        self._columns = [(list_getter(f"row.{attribute(index)}"), build) for index, build in enumerate(columns)]
        self._metadata = metadata
        self._binary = binary
        self._empty_row = empty_row
        self._placeholders = placeholders

    @classmethod
    def of(
        cls, schema: pa.Schema, fields: list[pa.Field], keys: Sequence[MetadataKey], dialect: Dialect, iso: bool
    ) -> FastChangeReader | None:
        """Make a reader for the columns ``fields`` and metadata ``keys``; None when msgspec cannot read them."""
        has_database_values = dialect.has_database_values
        as_text = [field.name for field in fields if has_database_values and pt.is_binary(field.type)]
        message = message_type(
            dialect.layout,
            [field.with_type(pa.string()) if field.name in as_text else field for field in fields],
            keys,
            dialect.has_payload,
            DECLARED_TYPES if as_text else (),
        )
        if message is None:
            return None
        columns = [value_column(field, iso, numbers_are_booleans=has_database_values) for field in fields]
        has_placeholders = dialect.layout.messages.has_placeholders
        if has_placeholders:
            columns = [_rejecting_placeholders(build) for build in columns]
        metadata = [(metadata_column(key, keys), key.is_of_root) for key in keys]
        binary = {schema.get_field_index(name): name for name in as_text}
        placeholders = _placeholder_search(fields) if has_placeholders else None
        return cls(schema, message, dialect, columns, metadata, binary, _empty_row(message, dialect), placeholders)

    def read(self, payloads: PayloadList) -> FastChanges:
        """Read the messages that can be read; null and empty messages give no rows."""
        index, unread = self._select(payloads)
        placeholders = self._placeholders.indices(payloads) if self._placeholders is not None else []
        if placeholders:
            # Only the exact reader can tell a placeholder from a value
            has_placeholder = np.isin(index, placeholders)
            index, unread = index[~has_placeholder], unread | set(index[has_placeholder].tolist())
        selected = payloads if len(index) == len(payloads) else [payloads[i] for i in index.tolist()]
        roots, refused = decode_each(self._decode, selected)
        if refused:
            unread |= set(index[list(refused)].tolist())
            index = np.delete(index, list(refused))
        messages = [root.payload for root in roots] if self._dialect.has_payload else roots
        changes = self._dialect.layout.collect(messages)
        row_message = np.repeat(np.arange(len(messages), dtype=np.int32), np.asarray(changes.counts))
        rejected = np.zeros(len(messages), bool)
        rejected[changes.incomplete] = True
        columns = self._row_columns(changes, messages, row_message, lambda rows: _mark(rejected, row_message[rows]))
        # Only the exact reader can tell a row without any column from one without these columns
        rejected[row_message[self._empty_old_rows(changes, columns)]] = True
        arrays = [
            *columns,
            *self._metadata_columns(roots, messages, row_message, lambda indices: _mark(rejected, indices)),
            pa.array(np.frombuffer(changes.kinds, np.int8)),
        ]
        unread |= set(index[rejected].tolist())
        rows = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        return FastChanges(rows, index[row_message], np.flatnonzero(rejected[row_message]), sorted(unread))

    def _select(self, payloads: PayloadList) -> tuple[np.ndarray, set[int]]:
        """Return the indices of the messages to read, int32, and of those that only the exact reader can check."""
        if all(payloads):
            present = np.arange(len(payloads), dtype=np.int32)
        else:
            present = np.flatnonzero(np.fromiter(map(bool, payloads), bool, len(payloads))).astype(np.int32)
        name_filter = self._dialect.name_filter
        if name_filter is None:
            return present, set()
        matching, unknown = name_filter.select([payloads[index] for index in present.tolist()])
        return present[np.array(matching, np.intp)], set(present[np.array(list(unknown), np.intp)].tolist())

    def _row_columns(
        self, changes: RowChanges, messages: list[Any], row_message: np.ndarray, reject: Reject
    ) -> list[pa.Array]:
        rows = changes.rows
        before: list[int] = []
        if self._dialect.layout.is_partial:
            before = np.flatnonzero(np.frombuffer(changes.kinds, np.int8) == UPDATE_BEFORE).tolist()
        columns = []
        declared = [declared_binary(message) for message in messages] if self._binary else []
        of_rows = [declared[index] for index in row_message.tolist()] if declared else []
        unknown = [index for index, names in enumerate(of_rows) if names is None]
        if unknown:
            reject(np.array(unknown))
        for position, (get, build) in enumerate(self._columns):
            values = get(rows)
            for index in before:
                if values[index] is msgspec.UNSET:
                    values[index] = values[index + 1]
            if position in self._binary:
                values = _to_bytes(values, of_rows, self._binary[position], reject)
            columns.append(build(values, reject))
        return columns

    def _empty_old_rows(self, changes: RowChanges, columns: list[pa.Array]) -> list[int]:
        if self._empty_row is None or not all(column.null_count for column in columns):
            return []
        every_row = pa.array(np.ones(len(changes.rows), bool))
        nulls = functools.reduce(pc.and_, (column.is_null() for column in columns), every_row)
        rows = np.flatnonzero(nulls.to_numpy(zero_copy_only=False)).tolist()
        return [row for row in rows if changes.kinds[row] in _OLD and changes.rows[row] == self._empty_row]

    def _metadata_columns(
        self, roots: list[Any], messages: list[Any], row_message: np.ndarray, reject: Reject
    ) -> list[pa.Array]:
        columns = [build(roots if is_of_root else messages, reject) for build, is_of_root in self._metadata]
        if len(row_message) == len(messages) and (row_message == np.arange(len(messages))).all():
            return columns
        return [column.take(pa.array(row_message)) for column in columns]


def _placeholder_search(fields: Sequence[pa.Field]) -> PlaceholderSearch:
    """Return the search for the placeholders, other than texts, that msgspec would take for values of the columns."""
    types = [field.type for field in fields]
    return PlaceholderSearch(
        texts=any(map(pt.is_map, types)),
        arrays=any(map(pt.is_list, types)),
        objects=any(map(pt.is_struct, types)),
    )


def _rejecting_placeholders(build: Build) -> Build:
    def build_column(values: list[Any], reject: Reject) -> pa.Array:
        column = build(values, reject)
        rows = text_placeholders(column)
        if rows:
            reject(np.array(rows))
        return column

    return build_column


def _empty_row(message: type[msgspec.Struct], dialect: Dialect) -> Any:
    layout = dialect.layout
    if not layout.needs_columns:
        return None
    change = {layout.field: layout.messages.deleted, layout.messages.before: {}}
    text = msgspec.json.encode({"payload": change} if dialect.has_payload else change)
    try:
        read: Any = msgspec.json.decode(text, type=message)
    except msgspec.ValidationError:
        return None  # a column is NOT NULL
    return getattr(read.payload if dialect.has_payload else read, layout.messages.before)


def _mark(mask: np.ndarray, indices: np.ndarray) -> None:
    mask[indices] = True


def _to_bytes(texts: list[Any], declared: list[frozenset[str] | None], name: str, reject: Reject) -> list[bytes | None]:
    """Convert a column's texts, each with the columns that its message declares to be binary."""
    values: list[bytes | None] = []
    rejected = []
    for index, (text, binary) in enumerate(zip(texts, declared, strict=True)):
        try:
            values.append(to_bytes(text, binary is None or name in binary))
        except ValueError:
            values.append(None)
            rejected.append(index)
    if rejected:
        reject(np.array(rejected))
    return values
