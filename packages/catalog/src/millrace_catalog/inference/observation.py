"""The columns of one message, as a reader of messages reports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from millrace.change_dialects import Operation
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import DataType, least_common_type

Path = tuple[str, ...]
"""Names of the fields that lead to a value, outermost first."""


@dataclass(frozen=True, slots=True)
class Position:
    """Partition and offset of a message."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"partition {self.partition}, offset {self.offset}"


@dataclass(frozen=True, slots=True)
class Observation:
    """The columns that a message has, exactly as its values are.

    Attributes:
        table: Id of the table that the message belongs to.
        columns: Types of the columns by name, in the message's order: NOT NULL for a value, NULL for a null. Columns
            that the message lacks are left out.
        primary_key: Columns of the primary key, if the message names them.
        paths: Paths of the columns in the message, if nested fields become columns; else empty.
    """

    table: str
    columns: dict[str, DataType]
    primary_key: tuple[str, ...] | None = None
    paths: frozenset[Path] = frozenset()


RowImage = dict[str, Any]
"""Values of a row by column, as JSON has them."""


ChangeOperation = Literal["c", "u", "d", "t"]
"""``c`` for insertions, ``u`` for updates, ``d`` for deletions, ``t`` for the deletion of all rows."""

CHANGE_OPERATIONS: Mapping[Operation, ChangeOperation] = {
    Operation.INSERT: "c",
    Operation.UPDATE: "u",
    Operation.DELETE: "d",
    Operation.TRUNCATE: "t",
}
"""The letter of each operation."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """The rows that one message changes in a table.

    Attributes:
        table: Id of the table.
        operation: ``c`` for insertions, ``u`` for updates, ``d`` for deletions, ``t`` for the deletion of all rows.
        rows: For each row, its values before and after the change; None where the message has none, as before an update
            whose old row the database did not send.
        primary_key: Columns of the primary key, if the message names them.
        message: The message, for the types that it declares.
        types: Types of columns that values have been converted to; None where they are as in the message.
        kept_columns: The columns whose values an update leaves as they were and the database did not send; they are
            None.
    """

    table: str
    operation: ChangeOperation
    rows: tuple[tuple[RowImage | None, RowImage | None], ...]
    primary_key: tuple[str, ...] | None
    message: Mapping[str, Any]
    types: Mapping[str, DataType] | None = None
    kept_columns: tuple[str, ...] = ()

    @property
    def lacks_old_row(self) -> bool:
        """True for an update whose old row the database did not send."""
        return self.operation == "u" and any(before is None for before, _ in self.rows)


class MessageReader(Protocol):
    """Reader of the messages of one format, for their columns.

    Attributes:
        format: Name of the format.
        options: Options of the format.
        fixed: Types of the columns that are not inferred, by name.
    """

    @property
    def format(self) -> str: ...  # noqa: D102

    @property
    def options(self) -> FormatOptions: ...  # noqa: D102

    @property
    def fixed(self) -> Mapping[str, DataType]: ...  # noqa: D102

    def read(self, payload: bytes | None) -> Observation | None:
        """Read a message; None when it has no columns, such as a tombstone.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """


def widen_rows(rows: Iterable[dict[str, DataType]]) -> dict[str, DataType]:
    """Return the columns that hold the values of all rows."""
    widened: dict[str, DataType] = {}
    for row in rows:
        for name, type_ in row.items():
            current = widened.get(name)
            widened[name] = type_ if current is None else least_common_type(current, type_)
    return widened
