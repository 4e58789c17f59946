"""Write an `Expression` as text that parses to it."""

from __future__ import annotations

from millrace_filters.expression import Expression, Term

_SPECIAL_IN_KEY = frozenset("&|!:()\\")
_SPECIAL_IN_VALUE = _SPECIAL_IN_KEY - {":"}


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
