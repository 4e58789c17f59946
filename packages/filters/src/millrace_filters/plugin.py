"""The package's hook: which header-filter languages it offers, and where their classes are."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_header_filters() -> Mapping[str, str]:
    """The names to give as ``scan.filter.language``."""
    return {"expression": "millrace_filters.expression_filter:ExpressionFilter"}
