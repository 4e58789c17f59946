"""The header-filter language ``expression``."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from millrace.contracts import HeaderFilter, HeaderFilterOptions
from millrace.options import option
from millrace_filters.evaluate import mask
from millrace_filters.expression import Expression, to_text


def parse_expression(text: str) -> Expression:
    """Parse the text of ``scan.header-filter``; only the driver does, so executors need no parser."""
    from millrace_filters.parse import parse

    return parse(text)


@dataclass(frozen=True, kw_only=True)
class ExpressionFilterOptions(HeaderFilterOptions):
    """The options of the language ``expression``."""

    expression: Expression = option(
        "scan.header-filter",
        parse=parse_expression,
        doc="Conditions on headers, such as depart:toy|depart:book&!env:test.",
    )


class ExpressionFilter(HeaderFilter):
    """Keep records whose headers fulfil an expression such as ``depart:toy|depart:book&!env:test``.

    ``key:value`` is true for a record that has such a header, among others or several times; ``!`` negates the term
    that it precedes; ``&`` and ``|`` are applied strictly from left to right, neither before the other.

    Args:
        options: The parsed expression.
    """

    Options = ExpressionFilterOptions

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        """Return for each record whether it is kept: see `HeaderFilter.mask`."""
        return mask(self.options.expression, headers)

    def __repr__(self) -> str:
        return f"ExpressionFilter({to_text(self.options.expression)!r})"
