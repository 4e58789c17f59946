"""Run a script from the command line: statement by statement, then wait for the streams that it has started."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from millrace.api.query_progress import ProgressMonitor
from millrace_sql.shell.results import show_result

if TYPE_CHECKING:
    from millrace_sql.environment import TableEnvironment
    from millrace_sql.execution.results import TableResult

_PAUSE_MS = 250
_LINES_EVERY_S = 10.0
"""Time between lines of progress where nothing can be updated in place, such as in a log."""


def run_script(
    environment: TableEnvironment,
    script: str,
    console: Console,
    progress: Console,
    *,
    before_stop: Callable[[], None] = lambda: None,
) -> None:
    """Run the statements of a script, show their results, and wait until its streams have ended.

    When one of them fails, the others are stopped.

    Args:
        environment: Runs the statements.
        script: The statements.
        console: Where results are shown.
        progress: Where the progress of streams is shown.
        before_stop: Called before streams that still run are stopped.

    Raises:
        SqlError: The script does not parse, or a statement cannot run.
        StreamingQueryException: A stream has failed.
        KeyboardInterrupt: The user ends the script; its streams are stopped.
    """
    started: list[TableResult] = []
    try:
        for result in environment.iterate_script(script):
            started.append(result)
            show_result(result, console)
        _wait([result for result in started if result.queries and not result.is_changelog], progress)
    finally:
        before_stop()
        for result in started:
            client = result.get_job_client()
            if client is not None:
                client.cancel()


def _wait(results: Iterable[TableResult], progress: Console) -> None:
    running = list(results)
    monitors = [ProgressMonitor(query) for result in running for query in result.queries]
    if not monitors:
        return
    if progress.is_terminal:
        with Live(get_renderable=lambda: _lines(monitors), console=progress, refresh_per_second=2):
            _wait_for_each(running, None, progress)
    else:
        _wait_for_each(running, monitors, progress)
        progress.print(_lines(monitors), soft_wrap=True)


def _wait_for_each(running: list[TableResult], monitors: list[ProgressMonitor] | None, progress: Console) -> None:
    """Wait until all have ended; print a line for each of the monitors from time to time."""
    last = time.monotonic()
    while running:
        # All are asked in turn, so that one that fails is noticed while others run
        running = [result for result in running if not _has_ended(result)]
        if monitors is not None and time.monotonic() - last >= _LINES_EVERY_S:
            last = time.monotonic()
            progress.print(_lines(monitors), soft_wrap=True)


def _has_ended(result: TableResult) -> bool:
    try:
        result.wait(_PAUSE_MS)
    except TimeoutError:
        return False
    return True


def _lines(monitors: list[ProgressMonitor]) -> Text:
    return Text("\n".join(str(monitor.read()) for monitor in monitors))
