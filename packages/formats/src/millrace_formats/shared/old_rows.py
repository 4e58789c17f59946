"""The option of formats of changes that says what becomes of updates without their old row."""

from __future__ import annotations

from typing import Any

from millrace.errors import MalformedMessageError
from millrace.options import option

NAME = "updates-without-old-row"


def old_rows_option() -> Any:
    """Declare the option."""
    return option(
        NAME,
        default="fail",
        doc="How to read an update without its old row. fail: it is malformed. upsert: only its new row, +U, is read; "
        "for tables with a primary key, which in SQL must be declared. (Addition.)",
    )


def with_advice(error: MalformedMessageError, format_name: str) -> MalformedMessageError:
    """Return the error of such an update, with the advice to set the option."""
    advice = f"For a table with a primary key, '{format_name}.{NAME}' = 'upsert' reads the new row alone"
    return MalformedMessageError(f"{error.reason}. {advice}", error.path)
