"""Show the results of statements: at a terminal as tables that update, else as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from millrace_sql.execution.printing import text_of
from millrace_sql.shell.live_table import LiveResult

if TYPE_CHECKING:
    from millrace_sql.execution.results import TableResult

_REFRESHES_PER_SECOND = 4
_OTHER_LINES = 8
"""Lines of the terminal that a live table leaves free: for its head, its foot and the prompt."""


def show_result(result: TableResult, console: Console) -> None:
    """Show a result. That of a stream's query is shown until the stream ends; Ctrl-C ends it, and keeps what is shown.

    Args:
        result: The result.
        console: Where to show it.
    """
    if result.is_changelog and console.is_terminal:
        _show_live(result, console)
        return
    try:
        for line in result.lines():
            console.out(line, highlight=False)
    except KeyboardInterrupt:
        if not console.is_terminal:
            raise


def _show_live(result: TableResult, console: Console) -> None:
    live = LiveResult(result)
    with Live(get_renderable=lambda: _drawn(live, console), console=console, refresh_per_second=_REFRESHES_PER_SECOND):
        live.follow()


def _drawn(live: LiveResult, console: Console) -> Group:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in live.columns:
        table.add_column(Text(name), overflow="ellipsis", no_wrap=True)
    for row in live.table.newest(max(1, console.height - _OTHER_LINES)):
        table.add_row(*(Text(text_of(value), "dim" if value is None else "") for value in row))
    return Group(table, Text(f"{live.counts()}; Ctrl-C ends the query", "dim"))
