"""The syntax tree of a header-filter expression, and its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operator = Literal["&", "|"]

_SPECIAL_IN_KEY = frozenset("&|!:()\\")
_SPECIAL_IN_VALUE = _SPECIAL_IN_KEY - {":"}


@dataclass(frozen=True)
class Condition:
    """A test that a record has a header with this key and this value.

    Attributes:
        key: The header's key, not empty.
        value: The header's value as text; it is compared with the value's bytes as UTF-8.
    """

    key: str
    value: str


@dataclass(frozen=True)
class Term:
    """A condition, or its opposite."""

    condition: Condition
    negated: bool = False


@dataclass(frozen=True)
class Link:
    """An operator and its right-hand term; everything before it is its left-hand side."""

    operator: Operator
    term: Term


@dataclass(frozen=True)
class Expression:
    """Terms joined strictly from left to right: ``a|b&c`` is ``(a|b)&c``."""

    first: Term
    rest: tuple[Link, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, in order."""
        return (self.first, *(link.term for link in self.rest))


def to_text(expression: Expression) -> str:
    """Return the shortest text that `millrace_filters.parse.parse` turns into ``expression``."""
    links = (link.operator + _term(link.term) for link in expression.rest)
    return _term(expression.first) + "".join(links)


def _term(term: Term) -> str:
    key = _escape(term.condition.key, _SPECIAL_IN_KEY)
    value = _escape(term.condition.value, _SPECIAL_IN_VALUE)
    return f"{'!' if term.negated else ''}{key}:{value}"


def _escape(text: str, special: frozenset[str]) -> str:
    edges = (0, len(text) - 1)
    return "".join(
        f"\\{char}" if char in special or (index in edges and char.isspace()) else char
        for index, char in enumerate(text)
    )
