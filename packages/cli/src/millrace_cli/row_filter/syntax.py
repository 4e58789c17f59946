"""The syntax tree of a row filter, and the error that shows where it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from unicodedata import east_asian_width

from millrace_cli.errors import CommandError


@dataclass(frozen=True)
class ColumnPath:
    """A column, a field within one, or the entry of a map or of headers.

    Attributes:
        names: The names of column and fields.
        key: The key of the entry; None for the column itself.
        position: Where it begins in the text, from 0.
    """

    names: tuple[str, ...]
    key: str | None
    position: int

    def __str__(self) -> str:
        return ".".join(self.names) + ("" if self.key is None else f"[{self.key!r}]")


@dataclass(frozen=True)
class Constant:
    """A number, a text, TRUE or FALSE.

    Attributes:
        text: As it was written, without quotes.
        kind: What it is.
        position: Where it begins in the text, from 0.
    """

    text: str
    kind: Literal["number", "text", "boolean"]
    position: int


@dataclass(frozen=True)
class Comparison:
    """A column or constant, compared with another; one of them is a column."""

    left: ColumnPath | Constant
    operator: str
    right: ColumnPath | Constant
    position: int


@dataclass(frozen=True)
class Match:
    """A test of a column's text: by LIKE, or by RLIKE for a regular expression."""

    column: ColumnPath
    pattern: str
    is_regex: bool
    position: int


@dataclass(frozen=True)
class IsNull:
    """A test that a column has no value."""

    column: ColumnPath


@dataclass(frozen=True)
class Truth:
    """A column of truth values."""

    column: ColumnPath


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True)
class Combination:
    """Conditions of which all (``and``) or any (``or``) must be true."""

    operator: Literal["and", "or"]
    conditions: tuple[Condition, ...]


Condition = Comparison | Match | IsNull | Truth | Not | Combination


def filter_error(text: str, position: int, problem: str) -> CommandError:
    """Make the error for a mistake in a filter, which shows its place by a caret.

    Args:
        text: The filter.
        position: Where the mistake is, from 0.
        problem: What is wrong.
    """
    shown = "".join(char if char.isprintable() else " " for char in text)
    columns = sum(2 if east_asian_width(char) in "WF" else 1 for char in shown[:position])
    return CommandError(f"--where, character {position + 1}: {problem}\n  {shown}\n  {' ' * columns}^")
