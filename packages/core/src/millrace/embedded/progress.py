"""Tells a person waiting for a download how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = Callable[[str], None]

_SECONDS_BETWEEN_LINES = 5.0


class StderrProgress:
    """Writes messages to standard error: one line that renews itself on a terminal, a line every 5 seconds elsewhere.

    Args:
        clock: Seconds from some fixed moment on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock()

    def __call__(self, message: str) -> None:
        """Show a message; a counting one (``..: 3 of 9 jars``) may be left out when one was shown just before."""
        counting = ": " in message
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{message}" + ("" if counting else "\n"))
        elif not counting or self._clock() >= self._next:
            sys.stderr.write(f"{message}\n")
            self._next = self._clock() + _SECONDS_BETWEEN_LINES
        sys.stderr.flush()
