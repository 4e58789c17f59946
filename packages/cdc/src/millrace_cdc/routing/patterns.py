r"""Patterns of table ids, in which ``.`` divides the parts of an id and ``\.`` stands for any character.

Flink CDC reads the patterns of routes and those of transforms in two ways, and so do these classes:

- A route's pattern is one regular expression, which must match the whole id: ``db\.*`` matches ``db.orders``, since any
  character may be a dot. Its groups can be named in ``sink-table``.
- A transform's pattern is one regular expression for each part of an id, in any case: ``db.orders`` matches
  ``DB.Orders``, and ``db\.*`` only ids of one part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.options.java_pattern import java_pattern

if TYPE_CHECKING:
    import regex

    from millrace_cdc.table_id import TableId

_MOST_PARTS = 3
_CLOSING = {"{": "}", "[": "]"}


def split(text: str, separator: str) -> list[str]:
    r"""Split a pattern at a character, unless it is escaped by ``\`` or in ``{}`` or ``[]``; drop empty parts."""
    parts, closing, escaped = [""], "", False
    for character in text:
        if not escaped and not closing and character == separator:
            parts.append("")
            continue
        parts[-1] += character
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif closing:
            closing = "" if character == closing else closing
        else:
            closing = _CLOSING.get(character, "")
    if escaped:
        raise ValueError("expected a character after the last backslash")
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class RoutePattern:
    """The patterns of a route's ``source-table``, separated by commas.

    Attributes:
        text: As it is written.

    Raises:
        ValueError: It holds no pattern, or one that is no regular expression.
    """

    text: str
    _compiled: regex.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = split(self.text, ",")
        if not patterns:
            raise ValueError(r"expected the pattern of tables, such as db.orders or db.\.*")
        regexes = ["".join(_swapped_dots(pattern.replace("\\,", ","))) for pattern in patterns]
        object.__setattr__(self, "_compiled", _compile("|".join(regexes)))

    @property
    def groups(self) -> int:
        """The number of its groups."""
        return int(self._compiled.groups)

    def match(self, table: TableId) -> regex.Match[str] | None:
        """Match the whole id of a table."""
        return self._compiled.fullmatch(table.plain)


@dataclass(frozen=True)
class TableSelector:
    """The patterns of a transform's ``source-table``, separated by commas.

    Attributes:
        text: As it is written.

    Raises:
        ValueError: It holds no pattern, or one that is no regular expression, or more parts than an id has.
    """

    text: str
    _selectors: tuple[tuple[regex.Pattern[str], ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        selectors = tuple(_parts(pattern.replace("\\,", ",")) for pattern in split(self.text, ","))
        if not selectors:
            raise ValueError(r"expected the pattern of tables, such as db.orders or db.\.*")
        object.__setattr__(self, "_selectors", selectors)

    def matches(self, table: TableId) -> bool:
        """Return whether each part of the id matches that of a pattern with at least as many parts.

        A pattern's last parts count, as in Flink CDC: ``a.b.c`` also matches ``b.c``.
        """
        parts = table.parts
        return any(
            len(patterns) >= len(parts)
            and all(pattern.fullmatch(part) for pattern, part in zip(patterns[-len(parts) :], parts, strict=True))
            for patterns in self._selectors
        )


def _parts(text: str) -> tuple[regex.Pattern[str], ...]:
    parts = split(text, ".")
    if not 1 <= len(parts) <= _MOST_PARTS:
        raise ValueError(
            rf"expected one to three parts, but {text!r} has {len(parts)}; a dot divides parts, and \. is any character"
        )
    return tuple(_compile("(?i)" + part.replace("\\.", ".")) for part in parts)


def _swapped_dots(text: str) -> Iterator[str]:
    r"""Yield a pattern in which ``\.`` is any character and ``.`` a dot, as one in which it is the reverse."""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            yield "." if escaped == "." else character + escaped
        else:
            yield r"\." if character == "." else character


def _compile(text: str) -> regex.Pattern[str]:
    try:
        return java_pattern(text)
    except ValueError as error:
        raise ValueError(rf"{error}, in {text!r}; a dot divides the parts of an id, and \. is any character") from error
