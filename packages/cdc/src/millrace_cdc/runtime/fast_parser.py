"""A fast parser of changes that fit the current columns of their tables; inference reads all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

import msgspec

from millrace.table_names import join_names
from millrace.unavailable_values import PlaceholderSearch
from millrace_catalog.inference.options import DebeziumInferenceOptions, FormatOptions, JsonInferenceOptions
from millrace_cdc.rows.row_normalizer import RowNormalizer, row_normalizer
from millrace_cdc.runtime.flattened_records import JsonRowOptions
from millrace_cdc.table_id import topic_table


class ParsedChange(NamedTuple):
    """A change whose rows have all columns of its table, in order.

    Attributes:
        table: The id of the table.
        operation: ``c``, ``u`` or ``d``.
        before: The old row, as JSON.
        after: The new row, as JSON.
    """

    table: str
    operation: str
    before: bytes | None
    after: bytes | None


class FastParser(Protocol):
    """Parser of the messages of all topics."""

    def unreadable(self, values: Sequence[bytes | None]) -> Collection[int]:
        """Return the indices of messages that have to be read with inference, whatever `parse` makes of them."""

    def parse(self, topic: str, value: bytes) -> ParsedChange | None:
        """Parse a message; None if it has to be read with inference."""

    def clear(self) -> None:
        """Forget the columns of all tables, because those of one have changed."""


Columns = Callable[[str], str | None]
"""Returns the columns of a table, as SQL; None for a table that is new."""


def fast_parser(options: FormatOptions, columns: Columns, *, upserts: bool = False) -> FastParser | None:
    """Return a parser of a format's messages; None if all of them have to be read with inference.

    Args:
        options: The format's options.
        columns: Returns the columns of a table.
        upserts: Whether updates may lack their old rows.
    """
    if isinstance(options, DebeziumInferenceOptions):
        # Schemas declare types that values are converted to
        return None if options.schema_include else _DebeziumParser(options, columns, upserts=upserts)
    if isinstance(options, JsonRowOptions) and options.deletion_field:
        return None
    if isinstance(options, JsonInferenceOptions):
        has_rows_as_they_are = options.nesting == "string" and not options.fixed_types and not options.table_fields
        return _JsonParser(options, columns) if has_rows_as_they_are else None
    return None


_NULL = msgspec.Raw(b"null")
_INSERTIONS = ("c", "r")
# Rows with arrays are checked by their normalizers, and rows with objects are read with inference
_TEXT_PLACEHOLDERS = PlaceholderSearch(arrays=False, objects=False)
_is_empty = re.compile(rb"\{\s*\}").fullmatch


class _Source(msgspec.Struct, gc=False):
    db: str | None = None
    schema: str | None = None
    table: str | None = None


class _DebeziumEnvelope(msgspec.Struct, gc=False):
    op: str
    source: _Source | None = None
    before: msgspec.Raw = _NULL
    after: msgspec.Raw = _NULL


class _Tables:
    def __init__(self, options: FormatOptions, columns: Columns) -> None:
        self._options = options
        self._columns = columns

    def normalizer_of(self, table: str) -> RowNormalizer | None:
        columns = self._columns(table)
        return None if columns is None else row_normalizer(columns, self._options)


class _DebeziumParser:
    def __init__(self, options: DebeziumInferenceOptions, columns: Columns, *, upserts: bool) -> None:
        self._upserts = upserts
        self._decode = msgspec.json.Decoder(_DebeziumEnvelope).decode
        self._tables = _Tables(options, columns)
        self._normalizers: dict[tuple[str, str | None, str | None, str | None], tuple[str, RowNormalizer | None]] = {}

    def clear(self) -> None:
        self._normalizers.clear()

    def unreadable(self, values: Sequence[bytes | None]) -> Collection[int]:
        return frozenset(_TEXT_PLACEHOLDERS.indices(values))

    def parse(self, topic: str, value: bytes) -> ParsedChange | None:
        try:
            change = self._decode(value)
            source = change.source or _Source()
            name = topic, source.db, source.schema, source.table
            table, rows = self._normalizers.get(name) or self._open(name)
            if rows is None:
                return None
            operation, normalize = change.op, rows.normalize
            if operation not in _INSERTIONS and _is_empty(change.before):
                return None
            # Rows that are null do not fit either
            if operation == "u":
                if self._upserts and change.before == _NULL:
                    return ParsedChange(table, "u", None, normalize(change.after))
                return ParsedChange(table, "u", normalize(change.before), normalize(change.after))
            if operation in _INSERTIONS and change.before == _NULL:
                return ParsedChange(table, "c", None, normalize(change.after))
            if operation == "d" and change.after == _NULL:
                return ParsedChange(table, "d", normalize(change.before), None)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        return None

    def _open(self, name: tuple[str, str | None, str | None, str | None]) -> tuple[str, RowNormalizer | None]:
        topic, *parts = name
        table = join_names(part for part in parts if part) or topic_table(topic)
        entry = self._normalizers[name] = table, self._tables.normalizer_of(table)
        return entry


class _JsonParser:
    def __init__(self, options: JsonInferenceOptions, columns: Columns) -> None:
        self._tables = _Tables(options, columns)
        self._normalizers: dict[str, tuple[str, RowNormalizer | None]] = {}

    def clear(self) -> None:
        self._normalizers.clear()

    def unreadable(self, values: Sequence[bytes | None]) -> Collection[int]:
        return ()

    def parse(self, topic: str, value: bytes) -> ParsedChange | None:
        table, rows = self._normalizers.get(topic) or self._open(topic)
        try:
            return None if rows is None else ParsedChange(table, "c", None, rows.normalize(value))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def _open(self, topic: str) -> tuple[str, RowNormalizer | None]:
        table = topic_table(topic)
        entry = self._normalizers[topic] = table, self._tables.normalizer_of(table)
        return entry
