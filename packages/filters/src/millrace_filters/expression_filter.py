"""The header-filter language ``expression``."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import HeaderFilter
from millrace_filters.evaluate import mask
from millrace_filters.parse import parse
from millrace_filters.print import to_text


class ExpressionFilter(HeaderFilter):
    """Keeps records whose headers fulfil an expression such as ``depart:toy|depart:book&!env:test``.

    ``key:value`` is true for a record that has such a header, among others or several times; ``!`` negates the term
    that it precedes; ``&`` and ``|`` are applied strictly from left to right, none before the other. The grammar is in
    `millrace_filters.parse`.

    Args:
        expression: The text of ``scan.header-filter``.

    Raises:
        ValueError: The expression is wrong; the message shows where, and what was expected.
    """

    def __init__(self, expression: str) -> None:
        self._expression = parse(expression)

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        """For each record whether it is kept: see `HeaderFilter.mask`."""
        return mask(self._expression, headers)

    def __repr__(self) -> str:
        return f"ExpressionFilter({to_text(self._expression)!r})"
