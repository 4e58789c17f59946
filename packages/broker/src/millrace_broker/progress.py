"""Show how far a download is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

Progress = Callable[[str], None]
"""Receive a message about the progress of a download."""

_LINE_INTERVAL_SECONDS = 5.0


class LineProgress:
    """Progress as lines; of counting messages (``..: 3 of 9 jars``) one every 5 seconds.

    Args:
        write: Writes a line.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._next_line_at = clock()

    def __call__(self, message: str) -> None:
        """Write a message, unless it only counts and one was written just before."""
        if ": " not in message or self._clock() >= self._next_line_at:
            self._write(message)
            self._next_line_at = self._clock() + _LINE_INTERVAL_SECONDS


class StderrProgress:
    """Progress on standard error: on a terminal one line that is overwritten, elsewhere lines.

    Args:
        clock: Monotonic clock, in seconds.
        stream: Where to write instead of standard error.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        self._given_stream = stream
        self._lines = LineProgress(lambda message: self._stream.write(f"{message}\n"), clock)

    def __call__(self, message: str) -> None:
        """Show a message."""
        if self._stream.isatty():
            counting = ": " in message
            self._stream.write(f"\r\x1b[K{message}" + ("" if counting else "\n"))
        else:
            self._lines(message)
        self._stream.flush()

    @property
    def _stream(self) -> TextIO:
        # Looked up each time: programs replace sys.stderr
        return self._given_stream or sys.stderr
