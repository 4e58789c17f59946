r"""From the text of a header filter to its `Expression`.

The grammar, in which white space around a term, a key or a value means nothing::

    expression = term, { ("&" | "|"), term }
    term       = [ "!" ], key, ":", value

A value may hold ``:`` and may be empty, a key may not. Each of ``& | ! : ( ) \`` and white space stands for itself
after a backslash.
"""

from __future__ import annotations

from typing import NamedTuple, cast
from unicodedata import east_asian_width

from millrace.options import ShownValueError
from millrace_filters.expression import Condition, Expression, Link, Operator, Term

SPECIAL = frozenset("&|!:()\\")
"""The characters that stand for themselves only after a backslash."""


class _Char(NamedTuple):
    """A character that the expression means, without the backslash that escaped it; empty at the end of the text."""

    text: str
    position: int
    escaped: bool = False

    def is_mark(self, *marks: str) -> bool:
        return self.text in marks and not self.escaped

    def is_space(self) -> bool:
        return self.text.isspace() and not self.escaped

    def __str__(self) -> str:
        return repr(self.text) if self.text else "the end"


def parse(text: str) -> Expression:
    """Parse a header filter.

    Raises:
        ValueError: The text is not an expression; the message shows it with a caret under the first mistake, and says
            what was expected there.
    """
    end = _Char("", len(text))
    terms: list[Term] = []
    operators: list[str] = []
    segment: list[_Char] = []
    for char in [*_characters(text), end]:
        if char is not end and not char.is_mark("&", "|"):
            segment.append(char)
            continue
        terms.append(_term(text, segment, char))
        operators.append(char.text)
        segment = []
    first, *others = terms
    links = (Link(cast("Operator", operator), term) for operator, term in zip(operators, others, strict=False))
    return Expression(first, tuple(links))


def _characters(text: str) -> list[_Char]:
    """The characters that plain text and backslashes stand for."""
    chars: list[_Char] = []
    backslash = None
    for position, char in enumerate(text):
        if "\ud800" <= char <= "\udfff":
            raise _error(text, position, "expected text, found half of a surrogate pair, which UTF-8 cannot hold")
        if backslash is None and char == "\\":
            backslash = position
            continue
        if backslash is not None and char not in SPECIAL and not char.isspace():
            expected = "one of & | ! : ( ) \\ or white space after a backslash"
            raise _error(text, position, f"expected {expected}, found {char!r}; write \\\\ for a backslash")
        chars.append(_Char(char, position, escaped=backslash is not None))
        backslash = None
    if backslash is not None:
        raise _error(text, backslash, "expected a character after the backslash; write \\\\ for a backslash")
    return chars


def _term(text: str, segment: list[_Char], end: _Char) -> Term:
    """The term written in ``segment``, which ``end`` follows."""
    segment = _strip(segment)
    negated = bool(segment) and segment[0].is_mark("!")
    if negated:
        segment = _strip(segment[1:])
    _refuse_marks(text, segment)
    colon = next((index for index, char in enumerate(segment) if char.is_mark(":")), None)
    if colon == 0 or not segment:
        found = segment[0] if segment else end
        raise _error(text, found.position, f"expected a header key, as in key:value, found {found}")
    if colon is None:
        raise _error(text, end.position, f"expected ':' and the header's value, found {end}")
    condition = Condition(_text(segment[:colon]), _text(segment[colon + 1 :]))
    return Term(condition, negated)


def _refuse_marks(text: str, segment: list[_Char]) -> None:
    """Refuse the first character that means something elsewhere, but nothing here."""
    for char in segment:
        if char.is_mark("(", ")"):
            hint = f"terms are joined from left to right; write \\{char.text} for the character itself"
            raise _error(text, char.position, f"expected no parentheses, found {char}: {hint}")
        if char.is_mark("!"):
            hint = "it may stand once, before a header key; write \\! for the character itself"
            raise _error(text, char.position, f"expected no '!' here: {hint}")


def _strip(segment: list[_Char]) -> list[_Char]:
    """``segment`` without the white space around it."""
    kept = [index for index, char in enumerate(segment) if not char.is_space()]
    return segment[kept[0] : kept[-1] + 1] if kept else []


def _text(segment: list[_Char]) -> str:
    return "".join(char.text for char in _strip(segment))


def _error(text: str, position: int, problem: str) -> ShownValueError:
    shown = "".join(map(_printable, text))
    columns = sum(2 if east_asian_width(char) in "WF" else 1 for char in shown[:position])
    return ShownValueError(f"header filter, character {position + 1}: {problem}\n  {shown}\n  {' ' * columns}^")


def _printable(char: str) -> str:
    """``char``, or one as wide: a tab or a line break would move the caret, half a surrogate pair cannot be printed."""
    if char.isprintable():
        return char
    return " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
