"""Keep the output of Java and of C libraries away from the display."""

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
def redirect_native_output(log: Path) -> Iterator[None]:
    """Redirect this process's standard output and error to a file, except for what Python itself writes.

    Java, its Python workers and librdkafka write to the file descriptors, which they inherit or share; `sys.stdout` and
    `sys.stderr` write to duplicates of them until the block ends.

    Args:
        log: The file.
    """
    originals = {name: getattr(sys, name) for name in _STREAMS}
    duplicates = {name: _duplicate(originals[name], number) for name, number in _STREAMS.items()}
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name, number in _STREAMS.items():
        os.dup2(target, number)
        setattr(sys, name, duplicates[name])
    os.close(target)
    try:
        yield
    finally:
        for name, number in _STREAMS.items():
            setattr(sys, name, originals[name])
            # The reader may have closed the pipe
            with suppress(OSError):
                duplicates[name].flush()
            os.dup2(duplicates[name].fileno(), number)
            with suppress(OSError):
                duplicates[name].close()


def log_tail(log: Path) -> str:
    """Return the last lines of a log file, each indented on a new line."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "".join(f"\n    {line[:400]}" for line in lines[-_TAIL_LINES:])


def _duplicate(stream: TextIO, descriptor: int) -> TextIO:
    stream.flush()
    # Line-buffered, as Python's own streams on a terminal
    return os.fdopen(os.dup(descriptor), "w", buffering=1, encoding=stream.encoding, errors=stream.errors)
