"""Rows as a table for people."""

from __future__ import annotations

import io

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from millrace_cli.printable import printable, shown

_PIPE_WIDTH = 100_000
"""Characters; where nobody looks at a terminal, a row is one line whatever its length."""


def table_lines(rows: pa.Table, *, coloured: bool) -> list[str]:
    """The table, line by line.

    Args:
        rows: What to show.
        coloured: For a terminal: in its width and with colours. Otherwise one plain line for each row.
    """
    table = Table(box=box.SIMPLE_HEAD if coloured else None, pad_edge=False, header_style="bold")
    for name in rows.schema.names:
        table.add_column(Text(printable(name)), overflow="fold")
    for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        table.add_row(*(Text(shown(value), "dim" if value is None else "") for value in row))
    console = Console() if coloured else Console(file=io.StringIO(), width=_PIPE_WIDTH)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]
