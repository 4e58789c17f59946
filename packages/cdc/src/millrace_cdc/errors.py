"""The error of a wrong definition: all of its problems, each with its place in the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from millrace.errors import MillraceError


class Position(NamedTuple):
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

    position: Position | None
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
        ordered = tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem.position or Position(0, 0)))
        super().__init__(name, ordered)
        self.name = name
        self.problems = ordered

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.name}: {self.problems[0]}"
        return "\n  ".join([f"{self.name} has {len(self.problems)} problems:", *map(str, self.problems)])
