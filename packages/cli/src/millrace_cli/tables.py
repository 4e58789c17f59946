"""Tables for people: as wide as the terminal, or one plain line per row in a pipe.

Messages' contents are made printable first, since control characters in them would drive the terminal.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pyarrow as pa

_PIPE_WIDTH = 100_000
"""Characters; wide enough that each row is one line."""


def json_lines(rows: pa.Table | pa.RecordBatch) -> Iterator[str]:
    """Yield each row as a JSON object; bytes and times are texts in it."""
    for row in rows.to_pylist(maps_as_pydicts="lossy"):
        yield json.dumps(row, ensure_ascii=False, default=_json_value)


def _json_value(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def new_table(*, coloured: bool) -> Table:
    """Create a table without columns.

    Args:
        coloured: Draw a line below the headings, as `render` with the same argument expects.
    """
    return Table(box=box.SIMPLE_HEAD if coloured else None, pad_edge=False, header_style="bold")


def render(table: Table, *, coloured: bool) -> list[str]:
    """Render a table as lines.

    Args:
        table: The table.
        coloured: For a terminal, in its width and with colours; otherwise one plain line for each row.
    """
    console = Console() if coloured else Console(file=io.StringIO(), width=_PIPE_WIDTH)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def rows_table(rows: pa.Table, *, coloured: bool, below: tuple[str, str] | None = None) -> list[str]:
    """Render an Arrow table as lines.

    Args:
        rows: The rows.
        coloured: As for `render`.
        below: For a terminal, a column whose texts stand below those of another one, so that the table stays narrow:
            its name, and that of the other.
    """
    table = new_table(coloured=coloured)
    lower, upper = below if below and coloured and set(below) <= set(rows.schema.names) else ("", "")
    names = [name for name in rows.schema.names if name != lower]
    for name in names:
        table.add_column(Text(printable(name)), overflow="fold")
    for row in rows.to_pylist():
        cells = {name: Text(cell_text(row[name]), "dim" if row[name] is None else "") for name in names}
        if lower and row[lower]:
            cells[upper] = Text.assemble(cells[upper], "\n", (cell_text(row[lower]), "dim"))
        table.add_row(*cells.values())
    return render(table, coloured=coloured)


def cell_text(value: Any) -> str:
    """Format a value for people: text as it is, bytes as text with escapes, nested values as JSON."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return printable(repr(value)[2:-1])
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, dict | list | tuple):
        return printable(json.dumps(value, ensure_ascii=False, default=_nested_text))
    return printable(str(value))


def time_text(time: datetime) -> str:
    """Format a time to the second, or as exactly as it is; Z stands for UTC, and options accept it."""
    precision = "milliseconds" if time.microsecond % 1000 == 0 else "microseconds"
    text = time.isoformat(" ", "seconds" if time.microsecond == 0 else precision)
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text


def _nested_text(value: Any) -> str:
    if isinstance(value, datetime):
        return time_text(value)
    return repr(value)[2:-1] if isinstance(value, bytes) else str(value)


def printable(text: str) -> str:
    """Replace control characters by their escapes in Python's strings."""
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
