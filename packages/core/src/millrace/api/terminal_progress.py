"""Lines on a terminal that show the progress of a session's queries while a program waits for them."""

from __future__ import annotations

import atexit
import shutil
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from millrace.api.query_progress import ProgressMonitor, QueryProgress
from millrace.pyspark_internals import is_stopped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INTERVAL_S = 0.5
_MAX_LINES = 8
_ID_DIGITS = 8


def show_progress(spark: SparkSession) -> None:
    """Show the progress of a session's queries until the session or the program ends, if standard error is a terminal.

    A prompt of Python, IPython included, never shows it.

    Args:
        spark: The session.
    """
    if not sys.stderr.isatty() or hasattr(sys, "ps1") or "IPython" in sys.modules:
        return
    if is_stopped(spark) or _is_shown(spark):
        return
    thread = _ProgressThread(spark)
    thread.start()
    # Registered after PySpark's own, and so called before Java ends
    atexit.register(thread.end)


class ProgressLines:
    """Lines at the cursor that are drawn again and again; other output of the program takes their place.

    Args:
        terminal: Where they are drawn.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._lock = threading.RLock()
        self._drawn: list[str] = []

    def draw(self, lines: Sequence[str], finished: Sequence[str] = ()) -> None:
        """Replace the lines.

        Args:
            lines: The new ones.
            finished: Lines that stay on the terminal, above them.
        """
        width = shutil.get_terminal_size().columns - 1
        shown = [line[:width] for line in lines]
        with self._lock:
            if shown == self._drawn and not finished:
                return
            self.clear()
            for line in finished:
                self._terminal.write(f"{line}\n")
            if shown:
                up = f"\x1b[{len(shown) - 1}A" if len(shown) > 1 else ""
                self._terminal.write("\n".join(shown) + up + "\r")
                self._drawn = shown
            self._terminal.flush()

    def clear(self) -> None:
        """Erase the lines, if there are any."""
        with self._lock:
            if self._drawn:
                self._drawn = []
                self._terminal.write("\r\x1b[J")
                self._terminal.flush()


class ClearingStream:
    """A standard stream of the program that erases the lines of progress before it writes.

    Args:
        stream: The stream.
        lines: The lines.
    """

    def __init__(self, stream: TextIO, lines: ProgressLines) -> None:
        self.stream = stream
        self._lines = lines

    def write(self, text: str) -> int:
        """Write a text."""
        self._lines.clear()
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _ProgressThread(threading.Thread):
    """Ask Spark for the session's queries, and draw their progress."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(name="millrace-progress", daemon=True)
        self.spark = spark
        self._ending = threading.Event()
        self._lines = ProgressLines(sys.stderr)
        self._monitors: dict[str, ProgressMonitor] = {}
        self._finished: set[str] = set()

    def run(self) -> None:
        """Draw until the session ends."""
        while not self._ending.wait(_INTERVAL_S) and not is_stopped(self.spark):
            try:
                self._draw()
            except Exception:
                # Java has ended, or Spark is about to
                break
        self._restore_streams()

    def end(self) -> None:
        """Draw once more for queries that have ended since, and stop."""
        self._ending.set()
        self.join(_INTERVAL_S * 4)
        if self._monitors and not is_stopped(self.spark):
            try:
                self._draw()
            except Exception:
                self._lines.clear()
        self._lines.clear()
        self._restore_streams()

    def _draw(self) -> None:
        for query in self.spark.streams.active:
            name = query.name or f"query {query.id[:_ID_DIGITS]}"
            # Spark lists a query for a moment longer than it runs
            if query.runId not in self._finished and query.runId not in self._monitors:
                self._monitors[query.runId] = ProgressMonitor(query, name)
        running, finished = [], []
        for run, monitor in list(self._monitors.items()):
            progress = monitor.read()
            if progress.has_ended:
                del self._monitors[run]
                self._finished.add(run)
                finished.append(str(progress))
            else:
                running.append(progress)
        if running:
            self._replace_streams()
        if running or finished:
            self._lines.draw(_shown(running), finished)
        if not running:
            self._restore_streams()

    def _replace_streams(self) -> None:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if not isinstance(stream, ClearingStream) and stream.isatty():
                setattr(sys, name, ClearingStream(stream, self._lines))

    def _restore_streams(self) -> None:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if isinstance(stream, ClearingStream):
                setattr(sys, name, stream.stream)


def _shown(running: Sequence[QueryProgress]) -> list[str]:
    lines = [str(progress) for progress in running[:_MAX_LINES]]
    return [*lines, f"and {len(running) - _MAX_LINES} more queries"] if len(running) > _MAX_LINES else lines


def _is_shown(spark: SparkSession) -> bool:
    return any(isinstance(thread, _ProgressThread) and thread.spark is spark for thread in threading.enumerate())
