"""Tables for people: as text of 80 columns, and as HTML without a script, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.options.secrets import Properties


def text_table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as lines of text; numbers stand on the right."""
    cells = [list(headings), *([_cell(value) for value in row] for row in rows)]
    kinds = [[isinstance(value, int | float) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    is_number = [all(column) for column in zip(*kinds, strict=True)] if kinds else [False] * len(widths)
    lines = (
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, is_number, strict=True)
        )
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def html_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Return a table as HTML; all texts are escaped."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_options(options: Properties, caption: str) -> str:
    """Return options as an HTML table that shows no secret."""
    rows = ((name, str(value)) for name, value in options.masked().items())
    return html_table(("option", "value"), rows, caption)


def html_text(text: str) -> str:
    """Return lines of text as HTML that keeps their spaces."""
    return f"<pre>{escape(text)}</pre>"


def _html_cell(value: Any) -> str:
    align = ' style="text-align: right"' if isinstance(value, int | float) else ""
    return f"<td{align}>{escape(_cell(value))}</td>"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
