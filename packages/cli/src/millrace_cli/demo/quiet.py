"""Keeps what Java and C libraries print away from the display."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

_STREAMS = {"stdout": 1, "stderr": 2}
_TAIL_LINES = 15


@contextmanager
def descriptors_to(log: Path) -> Iterator[None]:
    """Send this process's standard output and error to a file, but for what Python itself writes.

    Java, its Python workers and librdkafka write to the descriptors, which they inherit or share; `sys.stdout` and
    `sys.stderr` write to copies of them until the block ends.

    Args:
        log: The file.
    """
    originals = {name: getattr(sys, name) for name in _STREAMS}
    copies = {name: _copy(originals[name], number) for name, number in _STREAMS.items()}
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name, number in _STREAMS.items():
        os.dup2(target, number)
        setattr(sys, name, copies[name])
    os.close(target)
    try:
        yield
    finally:
        for name, number in _STREAMS.items():
            setattr(sys, name, originals[name])
            # Nobody may be reading any more
            with suppress(OSError):
                copies[name].flush()
            os.dup2(copies[name].fileno(), number)
            with suppress(OSError):
                copies[name].close()


def log_tail(log: Path) -> str:
    """The last lines of a log file, each indented on a new line."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "".join(f"\n    {line[:400]}" for line in lines[-_TAIL_LINES:])


def _copy(stream: TextIO, descriptor: int) -> TextIO:
    stream.flush()
    # As Python's own streams are: lines at once on a terminal and for errors
    return os.fdopen(os.dup(descriptor), "w", buffering=1, encoding=stream.encoding, errors=stream.errors)
