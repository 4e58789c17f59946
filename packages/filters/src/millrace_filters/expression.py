"""The syntax tree of a header-filter expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operator = Literal["&", "|"]


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
