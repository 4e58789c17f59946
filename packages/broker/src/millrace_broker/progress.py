"""Tells a person waiting for a download how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = Callable[[str], None]

_SECONDS_BETWEEN_LINES = 5.0


class LineProgress:
    """Hands messages on as lines, of counting ones (``..: 3 of 9 jars``) one every 5 seconds.

    Args:
        write: Shows a line.
        clock: Seconds from some fixed moment on.
    """

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._next = clock()

    def __call__(self, message: str) -> None:
        """Show a message, or leave it out when one was shown just before."""
        if ": " not in message or self._clock() >= self._next:
            self._write(message)
            self._next = self._clock() + _SECONDS_BETWEEN_LINES


class StderrProgress:
    """Writes messages to standard error: one line that renews itself on a terminal, lines elsewhere.

    Args:
        clock: Seconds from some fixed moment on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = LineProgress(lambda message: sys.stderr.write(f"{message}\n"), clock)

    def __call__(self, message: str) -> None:
        """Show a message."""
        if sys.stderr.isatty():
            counting = ": " in message
            sys.stderr.write(f"\r\x1b[K{message}" + ("" if counting else "\n"))
        else:
            self._lines(message)
        sys.stderr.flush()
