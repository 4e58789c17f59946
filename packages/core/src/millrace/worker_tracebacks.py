"""Keep tracebacks of PySpark's worker processes, and what Java says of its start, from a terminal.

Spark's Java process writes to the terminal whatever its Python processes print: their tracebacks when a query that is
stopped or fails takes their connections away. Errors of a query itself reach the command as exceptions.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_HEAD = "Traceback (most recent call last):"
_LINKS = ("During handling of the above exception", "The above exception was the direct cause")
_OF_START = ("WARNING: Using incubator modules: jdk.incubator.vector", "Setting Spark log level to ")
"""Lines that Java and Spark write at each start, and have no setting for."""

_STDERR = 2
_has_frame_of_pyspark = re.compile(r'^  File ".*[/\\]pyspark[/\\]', re.MULTILINE).search


@contextmanager
def hidden_worker_tracebacks() -> Iterator[None]:
    """Give the processes that are started in the ``with`` block a stderr without tracebacks of PySpark's workers."""
    terminal = os.dup(_STDERR)
    reading, writing = os.pipe()
    threading.Thread(target=_forward, args=(reading, os.dup(terminal)), name="millrace-stderr", daemon=True).start()
    os.dup2(writing, _STDERR)
    os.close(writing)
    try:
        yield
    finally:
        os.dup2(terminal, _STDERR)
        os.close(terminal)


def without_worker_tracebacks(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without the tracebacks that have a frame of PySpark, those that led to them, and those of a start."""
    traceback: list[str] = []
    was_hidden = False
    for line in lines:
        if line.startswith(_OF_START):
            continue
        if line.startswith(_HEAD):
            yield from traceback
            traceback = [line]
        elif traceback:
            traceback.append(line)
            # The line of the exception is the first that is not indented
            if not line.startswith(" "):
                was_hidden = _has_frame_of_pyspark("".join(traceback)) is not None
                yield from () if was_hidden else traceback
                traceback = []
        elif not (was_hidden and (not line.strip() or line.startswith(_LINKS))):
            was_hidden = False
            yield line
    yield from traceback


def _forward(reading: int, terminal: int) -> None:
    with os.fdopen(reading, errors="replace") as lines, os.fdopen(terminal, "w", errors="replace") as stderr:
        for line in without_worker_tracebacks(lines):
            stderr.write(line)
            stderr.flush()
