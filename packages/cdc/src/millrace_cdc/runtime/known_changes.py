"""Changes of tables whose columns are known, read without inference: those that do not fit are left to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from millrace_catalog.inference.debezium_values import has_placeholder
from millrace_catalog.inference.options import DebeziumInferenceOptions, FormatOptions, JsonInferenceOptions
from millrace_cdc.runtime.known_rows import KnownRows, known_rows


class KnownChange(NamedTuple):
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


class KnownChangeReader(Protocol):
    """Reader of the changes of known tables, from all topics."""

    def read(self, topic: str, value: bytes) -> KnownChange | None:
        """Read a message; None where it needs a closer look."""

    def forget(self) -> None:
        """Forget what is known, since the columns of a table have changed."""


Columns = Callable[[str], str | None]
"""Returns the columns of a table, as SQL; None where the table is not known."""


def known_change_reader(options: FormatOptions, columns: Columns) -> KnownChangeReader | None:
    """Return a reader of a format's messages; None where each needs a closer look.

    Args:
        options: The format's options.
        columns: Returns the columns of a table.
    """
    if isinstance(options, DebeziumInferenceOptions):
        # Schemas declare types that values are converted to
        return None if options.schema_include else _DebeziumReader(options, columns)
    if isinstance(options, JsonInferenceOptions):
        has_rows_as_they_are = options.nesting == "string" and not options.fixed_types and not options.table_fields
        return _JsonReader(options, columns) if has_rows_as_they_are else None
    return None


_NULL = msgspec.Raw(b"null")
_INSERTIONS = ("c", "r")


class _Source(msgspec.Struct, gc=False):
    db: str | None = None
    schema: str | None = None
    table: str | None = None


class _Change(msgspec.Struct, gc=False):
    op: str
    source: _Source | None = None
    before: msgspec.Raw = _NULL
    after: msgspec.Raw = _NULL


class _Tables:
    """The known tables, by what messages name them with."""

    def __init__(self, options: FormatOptions, columns: Columns) -> None:
        self._options = options
        self._columns = columns

    def rows_of(self, table: str) -> KnownRows | None:
        columns = self._columns(table)
        return None if columns is None else known_rows(columns, self._options)


class _DebeziumReader:
    def __init__(self, options: DebeziumInferenceOptions, columns: Columns) -> None:
        self._decode = msgspec.json.Decoder(_Change).decode
        self._tables = _Tables(options, columns)
        self._known: dict[tuple[str, str | None, str | None, str | None], tuple[str, KnownRows | None]] = {}

    def forget(self) -> None:
        self._known.clear()

    def read(self, topic: str, value: bytes) -> KnownChange | None:
        try:
            change = self._decode(value)
            source = change.source or _Source()
            name = topic, source.db, source.schema, source.table
            table, rows = self._known.get(name) or self._open(name)
            if rows is None or has_placeholder(value):
                return None
            operation, normalize = change.op, rows.normalize
            # Rows that are null do not fit either
            if operation == "u":
                return KnownChange(table, "u", normalize(change.before), normalize(change.after))
            if operation in _INSERTIONS and change.before == _NULL:
                return KnownChange(table, "c", None, normalize(change.after))
            if operation == "d" and change.after == _NULL:
                return KnownChange(table, "d", normalize(change.before), None)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        return None

    def _open(self, name: tuple[str, str | None, str | None, str | None]) -> tuple[str, KnownRows | None]:
        topic, *parts = name
        table = ".".join(part for part in parts if part) or topic
        found = self._known[name] = table, self._tables.rows_of(table)
        return found


class _JsonReader:
    def __init__(self, options: JsonInferenceOptions, columns: Columns) -> None:
        self._tables = _Tables(options, columns)
        self._known: dict[str, KnownRows | None] = {}

    def forget(self) -> None:
        self._known.clear()

    def read(self, topic: str, value: bytes) -> KnownChange | None:
        if topic not in self._known:
            self._known[topic] = self._tables.rows_of(topic)
        rows = self._known[topic]
        try:
            return None if rows is None else KnownChange(topic, "c", None, rows.normalize(value))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
