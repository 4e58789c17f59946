"""The package's hook: names and import strings of its header-filter languages."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_header_filters() -> Mapping[str, str]:
    """Return the names to give as ``scan.filter.language``."""
    return {"expression": "millrace_filters.expression_filter:ExpressionFilter"}
