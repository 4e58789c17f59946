"""The hook of this package: which formats it offers, and where their classes are."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_formats() -> Mapping[str, str]:
    """The formats of this package."""
    return {
        "csv": "millrace_formats.csv:CsvFormat",
        "json": "millrace_formats.json:JsonFormat",
        "raw": "millrace_formats.raw:RawFormat",
    }
