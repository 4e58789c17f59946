"""The rows of messages: an array of rows is read as if each of them were a message."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace.row_arrays import rows_in
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.types import DataType
from millrace_cdc.runtime.schema_headers import with_schema
from millrace_cdc.table_id import table_id

_WITH_ARRAYS = "json"


class ChangeReader(Protocol):
    """Reader of one topic's messages."""

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message; the reason to skip it when it is none."""

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's rows."""


class MessageRow(NamedTuple):
    """A row of a message, or the change of the whole message.

    Attributes:
        value: The bytes.
        change: The change; the reason to skip it when it is none.
    """

    value: bytes | None
    change: TableChange | SkipReason


class MessageRows:
    """Parse the rows of messages.

    Args:
        format_: The format of messages: only those of json may be arrays of rows.
        ignored: Counts the malformed rows of arrays that are left out; None where such a message is malformed.
    """

    def __init__(self, format_: str, ignored: Counter[SkipReason] | None) -> None:
        self._may_be_arrays = format_ == _WITH_ARRAYS
        self._ignored = ignored

    def parse(self, reader: ChangeReader, value: bytes | None, schema: bytes = b"") -> list[MessageRow]:
        """Parse a message.

        Args:
            reader: The reader of its topic.
            value: The message.
            schema: The value of the header that names its schema; empty where it says so itself.

        Raises:
            MalformedMessageError: It, or a row of it, is not a message of the format.
        """
        rows = rows_in(value) if self._may_be_arrays else (value,)
        if len(rows) == 1:
            return [MessageRow(rows[0], _parse(reader, with_schema(schema, rows[0])))]
        parsed = []
        for number, row in enumerate(rows, 1):
            try:
                parsed.append(MessageRow(row, _parse_one_of_several(reader, row)))
            except MalformedMessageError as error:
                if self._ignored is None:
                    raise MalformedMessageError(f"row {number} of its {len(rows)} rows: {error}") from None
                self._ignored[SkipReason.IGNORED] += 1
        return parsed


def _parse(reader: ChangeReader, value: bytes | None) -> TableChange | SkipReason:
    change = reader.parse(value)
    if isinstance(change, TableChange):
        try:
            table_id(change.table)
        except ValueError as error:
            raise MalformedMessageError(f"the id of its table is {change.table!r}: {error}") from None
    return change


def _parse_one_of_several(reader: ChangeReader, value: bytes | None) -> TableChange | SkipReason:
    change = _parse(reader, value)
    if isinstance(change, TableChange) and change.operation == "t":
        raise MalformedMessageError("a truncation is a message of its own")
    return change
