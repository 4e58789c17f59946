"""The cell magic ``%%millrace``: SQL in a notebook."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import HTML, display
from pyspark.errors import PySparkException

from millrace.errors import MillraceError
from millrace.failures import sentence_of
from millrace_sql.execution.printing import text_of
from millrace_sql.shell.live_table import LiveResult

if TYPE_CHECKING:
    from millrace_sql.environment import TableEnvironment
    from millrace_sql.execution.results import TableResult

_SHOWN_ROWS = 100
_REFRESH_S = 0.25


@magics_class
class SqlMagics(Magics):
    """``%%millrace``; created when ``%load_ext millrace_sql`` runs.

    The environment is the notebook's variable ``table_env`` where it has one, else one of the active Spark session, or
    of a new `millrace.local_session`; it then becomes that variable.
    """

    @cell_magic
    def millrace(self, line: str, cell: str) -> None:
        """Run the statements of a cell, and show their results; interrupting the kernel ends the query of a SELECT.

        Streams of INSERT go on behind the cell; ``SHOW JOBS`` lists them.
        """
        if line.strip():
            raise UsageError("%%millrace takes no arguments; statements begin in the next line")
        try:
            for result in self._environment().iterate_script(cell):
                _show(result)
        except (MillraceError, PySparkException) as error:
            # The message says what to do; a traceback would hide it
            raise UsageError(sentence_of(error)) from None

    def _environment(self) -> TableEnvironment:
        from millrace_sql.environment import TableEnvironment

        namespace = self.shell.user_ns
        defined = namespace.get("table_env")
        if isinstance(defined, TableEnvironment):
            return defined
        environment = TableEnvironment(_session())
        self.shell.push({"table_env": environment})
        return environment


def _session() -> Any:
    from pyspark.sql import SparkSession

    from millrace.api.session import local_session

    return SparkSession.getActiveSession() or local_session()


def _show(result: TableResult) -> None:
    names = result.get_table_schema().names
    if not names:
        for line in result.lines():
            print(line)  # noqa: T201 # a cell's output
    elif result.is_changelog:
        _show_changes(result)
    else:
        with result.collect() as rows:
            shown = [tuple(row) for _, row in zip(range(_SHOWN_ROWS + 1), rows, strict=False)]
        more = f"the first {_SHOWN_ROWS} rows" if len(shown) > _SHOWN_ROWS else f"{len(shown)} rows"
        display(_table(names, shown[:_SHOWN_ROWS], more))


def _show_changes(result: TableResult) -> None:
    live = LiveResult(result)

    def draw() -> HTML:
        return _table(live.columns, live.table.newest(_SHOWN_ROWS), live.counts())

    handle = display(draw(), display_id=True)
    ended = threading.Event()

    def redraw() -> None:
        drawn = 0
        while not ended.wait(_REFRESH_S):
            if live.table.changes != drawn:
                drawn = live.table.changes
                handle.update(draw())

    thread = threading.Thread(target=redraw, name="millrace-sql-result", daemon=True)
    thread.start()
    try:
        live.follow()
    finally:
        ended.set()
        thread.join()
        handle.update(draw())


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str) -> HTML:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text_of(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    return HTML(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(caption)}</p>")
