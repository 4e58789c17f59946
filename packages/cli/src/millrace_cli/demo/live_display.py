"""The demo's display on a terminal, redrawn in place."""

from __future__ import annotations

from typing import Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from millrace_cli.demo.display import Snapshot, rate_text

_BAR_CELLS = 10
_BAR_ROWS = 5_000
"""The lag of a partition that fills its bar, in records."""


class LiveDisplay:
    """A display that redraws the figures in place, below the permanent lines.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Write a line above the figures."""
        # Not wrapped: some lines are source code to copy
        self._console.print(Text(text), soft_wrap=True)

    def show(self, snapshot: Snapshot) -> None:
        """Redraw the figures."""
        self._live.update(dashboard(snapshot), refresh=True)


def dashboard(snapshot: Snapshot) -> RenderableType:
    """Lay out the figures as tables, for a terminal of 80 columns."""
    columns = Table.grid(padding=(0, 4))
    columns.add_row(Group(_flow(snapshot), "", _lag(snapshot)), _totals(snapshot))
    return Group("", Text(_headline(snapshot), "bold"), "", columns)


def _headline(snapshot: Snapshot) -> str:
    if snapshot.seconds is None:
        return "orders (JSON) -> Spark -> sales (JSON): waiting for the first result; Ctrl-C stops"
    remaining = max(0.0, snapshot.of_seconds - snapshot.seconds)
    return f"orders (JSON) -> Spark -> sales (JSON): {remaining:.0f} s left; Ctrl-C stops"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left", no_wrap=True)
    return table


def _flow(snapshot: Snapshot) -> Table:
    table = _table("records", "now", "so far")
    table.add_row("sent", "", f"{snapshot.sent:,}")
    table.add_row("in", Text(rate_text(snapshot.rows_in_rate), "green"), f"{snapshot.rows_in:,}")
    table.add_row("out", Text(rate_text(snapshot.rows_out_rate), "green"), f"{snapshot.rows_out:,}")
    table.add_row("batches", f"{snapshot.batch_ms:,} ms", f"{snapshot.batches:,}")
    return table


def _lag(snapshot: Snapshot) -> Table:
    table = _table("partition", "lag", "")
    for (topic, partition), rows in sorted(snapshot.lag.items()):
        cells = min(_BAR_CELLS, -(-rows * _BAR_CELLS // _BAR_ROWS))
        bar = Text("█" * cells + "·" * (_BAR_CELLS - cells), "yellow" if cells else "dim")
        table.add_row(f"{topic}-{partition}", f"{rows:,}", bar)
    return table


def _totals(snapshot: Snapshot) -> Table:
    table = _table("sales", "orders", "revenue")
    for total in snapshot.totals:
        table.add_row(total.country, f"{total.orders:,}", f"{total.revenue:,.2f}")
    return table
