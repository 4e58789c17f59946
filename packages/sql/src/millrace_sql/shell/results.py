"""Show the results of statements: at a terminal as tables that update, else as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.execution.printing import text_of
from millrace_sql.shell.live_table import LiveTable

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
    names = result.get_table_schema().names
    kind = names.index(ROW_KIND_COLUMN) if ROW_KIND_COLUMN in names else None
    shown = [place for place in range(len(names)) if place != kind]
    columns = [names[place] for place in shown]
    rows = LiveTable([columns.index(name) for name in result.upsert_key if name in columns])

    def draw() -> Group:
        return _table(columns, rows, max(1, console.height - _OTHER_LINES))

    with (
        Live(get_renderable=draw, console=console, refresh_per_second=_REFRESHES_PER_SECOND, transient=False),
        result.collect() as changes,
    ):
        try:
            for change in changes:
                rows.apply("+I" if kind is None else change[kind], tuple(change[place] for place in shown))
        except KeyboardInterrupt:
            return


def _table(columns: list[str], rows: LiveTable, height: int) -> Group:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(Text(name), overflow="ellipsis", no_wrap=True)
    for row in rows.newest(height):
        table.add_row(*(Text(text_of(value), "dim" if value is None else "") for value in row))
    count = len(rows)
    foot = f"{count:,} row{'' if count == 1 else 's'}, {rows.changes:,} changes; Ctrl-C ends the query"
    return Group(table, Text(foot, "dim"))
