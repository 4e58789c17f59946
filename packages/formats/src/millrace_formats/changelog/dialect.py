"""What a reader or writer of changes has to know of the tool whose messages they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from millrace.errors import MalformedMessageError
from millrace_formats.changelog.exact_rows import ExactRows, Row, to_text
from millrace_formats.changelog.name_filter import NameFilter
from millrace_formats.changelog.row_changes import Changes, Operation


class Layout(ABC):
    """How the messages of a tool are laid out.

    Args:
        field: The field that says what was done.
        operations: What its values mean.
        inserted: The value that is written for an insertion.
        deleted: The value that is written for a deletion.
    """

    is_partial: ClassVar[bool] = False
    """Whether the old rows of updates may lack what has not changed."""

    def __init__(self, field: str, operations: Mapping[str, Operation], inserted: str, deleted: str) -> None:
        self.field = field
        self.operations = operations
        self._written = {True: inserted, False: deleted}

    @property
    def names(self) -> Any:
        """The names of the operations that give rows, as the type to ask msgspec for."""
        return Literal[tuple(name for name, known in self.operations.items() if known is not Operation.NOTHING)]

    @abstractmethod
    def shapes(self, row: type, partial: type) -> Mapping[str, Any]:
        """What to ask msgspec for in the fields that hold rows.

        Args:
            row: The class of a row.
            partial: The class of a row of which only what has changed is told.
        """

    @abstractmethod
    def collect(self, messages: Sequence[Any]) -> Changes:
        """The rows of messages that msgspec has read: ``operation`` and the fields of `shapes`."""

    @abstractmethod
    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """The rows of a message that the exact reader has parsed, each with its kind.

        Raises:
            MalformedMessageError: It is not a change.
        """

    @abstractmethod
    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """What stands before and behind a row when it is written.

        Args:
            is_insertion: Whether it is inserted; else it is deleted. No tool's message says that it is one half of an
                update.
            with_nulls: Whether fields that are null are written.
        """

    def written(self, is_insertion: bool) -> bytes:
        """The field that says what was done, as it is written at a message's end."""
        return f',"{self.field}":"{self._written[is_insertion]}"}}'.encode()

    def operation(self, message: Mapping[str, Any]) -> tuple[Operation, str]:
        """What a parsed message says was done, and how it says so.

        Raises:
            MalformedMessageError: It does not say, or nothing that is known.
        """
        value = message.get(self.field)
        if value is None:
            raise MalformedMessageError("the message does not say what was done", self.field)
        name = to_text(value)
        known = self.operations.get(name)
        if known is None:
            raise MalformedMessageError(f"expected one of {', '.join(self.operations)}, found {name!r}", self.field)
        return known, name


@dataclass(frozen=True)
class Dialect:
    """What is to be known of a tool's messages.

    Attributes:
        layout: How they are laid out.
        has_payload: Whether the change is in the field ``payload``, beside its schema; None where it never is.
        names: Which of them are read; None for all.
    """

    layout: Layout
    has_payload: bool | None = None
    names: NameFilter | None = None
