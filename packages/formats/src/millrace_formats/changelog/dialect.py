"""The message layout of a change data capture tool, and the options of reading it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from millrace.change_dialects import ChangeDialect, Operation
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.name_filter import NameFilter
from millrace_formats.changelog.row_changes import RowChanges
from millrace_formats.shared.old_rows import with_advice


class Layout(ABC):
    """The layout of a tool's messages.

    Args:
        messages: The description of its messages.
        upserts: Whether an update without its old row is its new row alone.
    """

    is_partial: ClassVar[bool] = False
    """True if the old rows of updates may lack fields that have not changed."""

    needs_columns: ClassVar[bool] = False
    """True if an old row without any column is a missing one."""

    def __init__(self, messages: ChangeDialect, *, upserts: bool = False) -> None:
        self.messages = messages
        self.upserts = upserts
        self.field = messages.operation_field
        self.operations = {
            name: operation for name, operation in messages.operations.items() if operation is not Operation.TRUNCATE
        }
        """The operations that give rows, by their names."""

    @property
    def operation_type(self) -> Any:
        """The msgspec type of the operations that give rows."""
        return Literal[tuple(self.operations)]

    @abstractmethod
    def row_fields(self, row: type, partial: type) -> Mapping[str, Any]:
        """Return the msgspec types of the fields that hold rows.

        Args:
            row: The class of a row.
            partial: The class of a row that has only the fields that have changed.
        """

    @abstractmethod
    def collect(self, messages: Sequence[Any]) -> RowChanges:
        """Collect the rows of messages that msgspec has read: ``operation`` and the fields of `row_fields`."""

    @abstractmethod
    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """Read the rows of a parsed message, each with its kind.

        Raises:
            MalformedMessageError: It is not a change.
        """

    @abstractmethod
    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """Return the bytes before and after a row in a message.

        Args:
            is_insertion: Whether the row is inserted; else it is deleted. No tool has messages for one half of an
                update.
            with_nulls: Whether fields that are null are written.
        """

    def operation_suffix(self, is_insertion: bool) -> bytes:
        """Return the end of a message, with the field of the operation."""
        written = self.messages.inserted if is_insertion else self.messages.deleted
        return f',"{self.field}":"{written}"}}'.encode()

    def is_upsert(self, operation: Operation, message: Mapping[str, Any]) -> bool:
        """Return whether a parsed message is an update without its old row, which is its new row alone.

        Raises:
            MalformedMessageError: It is such an update, and they are refused.
        """
        if not self.messages.lacks_old_row(operation, message):
            return False
        if not self.upserts:
            raise with_advice(self.messages.missing_old_row(message), self.messages.format)
        return True

    def operation(self, message: Mapping[str, Any]) -> tuple[Operation, str]:
        """Return the operation of a parsed message, and its name there.

        Raises:
            MalformedMessageError: It has no operation, an unknown one, or a truncation.
        """
        operation, name = self.messages.operation(message)
        if operation is Operation.TRUNCATE:
            raise self.messages.unreadable_operation(name)
        return operation, name


@dataclass(frozen=True)
class Dialect:
    """A tool's messages, and the options of reading them.

    Attributes:
        layout: The layout of its messages.
        has_payload: Whether the change is in the field ``payload``, beside its schema; None where it never is.
        name_filter: The filter of messages by database and table; None to read all.
        has_database_values: Whether rows have values as `millrace_formats.changelog.canal_values` describes them.
    """

    layout: Layout
    has_payload: bool | None = None
    name_filter: NameFilter | None = None
    has_database_values: bool = False
