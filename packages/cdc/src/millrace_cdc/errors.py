"""Errors of definitions, with all of their problems and their places in the file, and of functions that they name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from millrace.errors import MessageError, MillraceError


class DocumentPosition(NamedTuple):
    """A place in a file; both numbers count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Problem(NamedTuple):
    """A problem of a definition.

    Attributes:
        position: Its place in the file; None for a definition that comes from no file.
        sentence: The problem, with what is expected.
    """

    position: DocumentPosition | None
    sentence: str

    def __str__(self) -> str:
        return f"{self.position}: {self.sentence}" if self.position else self.sentence


class PipelineError(MillraceError):
    """The definition of a pipeline is wrong.

    Args:
        name: The file, or other words for the definition.
        problems: All of its problems; the error has each once, in the order of their places.
    """

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        ordered = tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem.position or DocumentPosition(0, 0)))
        super().__init__(name, ordered)
        self.name = name
        self.problems = ordered

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.name}: {self.problems[0]}"
        return "\n  ".join([f"{self.name} has {len(self.problems)} problems:", *map(str, self.problems)])


class FunctionFailedError(MessageError):
    """A user-defined function has failed for a row.

    Args:
        table: The id of the row's table.
        reason: The call, the place of the message, and the exception.
    """

    def __init__(self, table: str, reason: str) -> None:
        super().__init__(table, reason)
        self.table = table
        self.reason = reason

    @classmethod
    def table_in(cls, failure: BaseException) -> str | None:
        """Return the id of the table that such an error of a Python worker names; None for another failure of Spark."""
        _, start, rest = (cls.message_in(failure) or "").partition(_TABLE)
        table, end, _ = rest.partition(_END)
        return table if start and end else None

    def __str__(self) -> str:
        return f"{_TABLE}{self.table}{_END}{self.reason}"


_TABLE, _END = "table '", "': "
