"""Print rows: as a table, as lines that go on, or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
import pyarrow as pa

from millrace_cli.tables import cell_text, json_lines, rows_table


class RowPrinter:
    """Print rows on standard output.

    Args:
        as_json: Print each row as a JSON object on a line of its own.
        follows: More rows are to come: print lines whose columns are as wide as what came before.
    """

    def __init__(self, *, as_json: bool, follows: bool) -> None:
        self._print: Callable[[pa.Table], None] = _print_json if as_json else self._go_on if follows else _print_table
        self._widths: list[int] = []

    def print(self, rows: pa.Table) -> None:
        """Print rows, in the order that they have."""
        self._print(rows)

    def _go_on(self, rows: pa.Table) -> None:
        lines = [
            [cell_text(value) for value in row] for row in zip(*(c.to_pylist() for c in rows.columns), strict=True)
        ]
        if not self._widths and lines:
            self._widths = [0] * rows.num_columns
            lines.insert(0, [cell_text(name) for name in rows.column_names])
        for line in lines:
            self._widths = list(map(max, self._widths, map(len, line)))
        for line in lines:
            click.echo("  ".join(map(str.ljust, line, self._widths)).rstrip())
        sys.stdout.flush()


def _print_table(rows: pa.Table) -> None:
    for line in rows_table(rows, coloured=sys.stdout.isatty()):
        click.echo(line)


def _print_json(rows: pa.Table) -> None:
    for line in json_lines(rows):
        click.echo(line)
    sys.stdout.flush()
