"""Start Spark without its log lines, which come before it knows how much it may log."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from rich.console import Console

from millrace.api.tracebacks import silence_query_loggers
from millrace.errors import MachineError
from millrace.failures import reason_of

_STDERR = 2
_BLOCK = 65_536
_MARK = b"\0the session has started\0"
_JAVA_ERROR = re.compile(r'^Exception in thread "main" [\w.$]+: (.+)', re.MULTILINE)


def silence_loggers() -> None:
    """Keep PySpark and Py4J from logging what they raise, above all how Ctrl-C has interrupted them."""
    silence_query_loggers()
    logging.getLogger("py4j").propagate = False
    # Without a handler Py4J's first message to the root logger would add one, for all loggers
    logging.basicConfig(format="%(message)s")
    logging.getLogger().addFilter(lambda record: "while sending command" not in record.getMessage())


@contextmanager
def startup_output_held_back() -> Iterator[Callable[[], None]]:
    """Hold back what is written to standard error in the block, by Spark's processes above all.

    It is dropped, unless the block fails. What the processes write later is passed on, until the function is called
    that the block gets: while Spark stops, each of its streams writes that it was interrupted. On a terminal a line
    says that Spark starts.

    Raises:
        MachineError: The block fails with an error of Spark; the message has the reason that its processes wrote.
    """
    pipe = _HeldBackPipe()
    with os.fdopen(os.dup(_STDERR), "w") as terminal:
        try:
            with Console(file=terminal).status("Starting Spark"), pipe.as_stderr():
                yield pipe.drop
        except PySparkException as error:
            raise MachineError(f"Spark does not start: {_reason(pipe.release()) or reason_of(error)}") from error
        except Exception:
            terminal.write(pipe.release())
            raise
    pipe.release()


def _reason(written: str) -> str | None:
    match = _JAVA_ERROR.search(written)
    return match[1] if match else None


class _HeldBackPipe:
    """A pipe that stands for standard error, and passes on what it is given once it is released."""

    def __init__(self) -> None:
        self._stderr = os.dup(_STDERR)
        self._read_end, self._write_end = os.pipe()
        self._held = b""
        self._is_released = threading.Event()
        self._is_dropped = False
        threading.Thread(target=self._pump, name="millrace-sql-stderr", daemon=True).start()

    @contextmanager
    def as_stderr(self) -> Iterator[None]:
        """Let standard error be the pipe, for this process and those that it starts."""
        os.dup2(self._write_end, _STDERR)
        try:
            yield
        finally:
            os.dup2(self._stderr, _STDERR)

    def release(self) -> str:
        """Pass on what comes from now on, and return what was held back."""
        # What is in the pipe was written before
        os.write(self._write_end, _MARK)
        os.close(self._write_end)
        self._is_released.wait()
        return self._held.decode(errors="replace")

    def drop(self) -> None:
        """Drop what comes from now on."""
        self._is_dropped = True

    def _pump(self) -> None:
        while _MARK not in self._held:
            self._held += os.read(self._read_end, _BLOCK)
        self._held, _, block = self._held.partition(_MARK)
        self._is_released.set()
        while block or (block := os.read(self._read_end, _BLOCK)):
            if not self._is_dropped:
                os.write(self._stderr, block)
            block = b""
