"""Primary keys of tables from the keys of their messages: JSON with or without its schema, or Avro."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import describe, parse_object
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.runtime.registry_changes import RegistryChangeOptions, connect_reader_of

if TYPE_CHECKING:
    from millrace.contracts import ConnectReader
    from millrace_catalog.inference.observation import TableChange
    from millrace_catalog.inference.options import FormatOptions
    from millrace_cdc.runtime.task_reports import TaskFindings

_ENVELOPE = {"schema", "payload"}

logger = logging.getLogger("millrace.pipelines")


class MessageKeys:
    """Read the columns of primary keys.

    Args:
        options: Options of the format of values.
    """

    def __init__(self, options: FormatOptions) -> None:
        self._read: ConnectReader | None = None
        if isinstance(options, RegistryChangeOptions):
            self._read = connect_reader_of(options)

    def columns(self, key: bytes | None) -> tuple[str, ...]:
        """Return the names of the columns in a key; none where there is no key.

        Raises:
            MalformedMessageError: It is something else.
        """
        if not key:
            return ()
        if self._read is not None:
            message = self._read(key)
            return () if message is None else tuple(message.value)
        parsed: Any = parse_object(key)
        if parsed is not None and parsed.keys() == _ENVELOPE:
            parsed = parsed["payload"]
            if not isinstance(parsed, dict | None):
                raise MalformedMessageError(f"expected a JSON object, found {describe(parsed)}", "payload")
        return () if parsed is None else tuple(parsed)

    def fit(self, key: bytes | None, primary_key: tuple[str, ...]) -> bool:
        """Return whether a message has the primary key of its table."""
        try:
            return self.columns(key) == primary_key
        except MalformedMessageError:
            return False

    def add(
        self, change: TableChange, key: bytes | None, columns: Iterable[str], current: tuple[str, ...] | None
    ) -> tuple[TableChange, str]:
        """Return a change with the primary key that its message's key has, and a problem with it, or an empty text.

        Args:
            change: The change.
            key: The key of its message.
            columns: The columns of its rows.
            current: The primary key of its table; None for a new table.
        """
        try:
            names = self.columns(key)
        except MalformedMessageError as error:
            return change, f"the key of its messages is no object with columns: {error}"
        if not names:
            return change, "its messages have no key"
        missing = [quote_name(name) for name in names if name not in set(columns)]
        if missing:
            return change, f"its rows have no column {', '.join(missing)}, which the key of its messages names"
        if current == ():
            return change, (
                "it began without one, and primary keys of messages cannot change: declare it in "
                "'scan.value.initial-schemas.ddls', or start with a new checkpoint"
            )
        return replace(change, primary_key=names), ""


class KeyWarnings:
    """Warn of tables whose messages have no usable key, once for each."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def check(self, reports: Iterable[TaskFindings], primary_keys: Mapping[str, tuple[str, ...]]) -> None:
        """Warn of tables that have no primary key.

        Args:
            reports: The reports of a micro-batch's tasks.
            primary_keys: The primary keys of the source's tables.
        """
        for report in reports:
            for table, table_report in report.tables.items():
                if table_report.key_problem and not primary_keys.get(table) and table not in self._warned:
                    self._warned.add(table)
                    logger.warning("%s", describe_keyless(table, table_report.key_problem))


def describe_keyless(table: str, problem: str) -> str:
    """Return a sentence about a table whose messages have no usable key."""
    return f"table {table!r} has no primary key: {problem}. Give it one by 'primary-keys' of a transform"
