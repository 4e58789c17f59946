"""Memory of Spark's Python workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

_INTERVAL_S = 0.05
_MEGABYTE = 1_000_000


class WorkerMemory:
    """Peak resident memory of each Python worker so far, in megabytes."""

    def __init__(self) -> None:
        self._peaks: dict[int, int] = {}

    @property
    def largest(self) -> float:
        """Peak memory of the largest worker, in MB.

        Raises:
            RuntimeError: No worker was seen.
        """
        if not self._peaks:
            raise RuntimeError("no Python worker of Spark was seen")
        return max(self._peaks.values()) / _MEGABYTE

    def look(self, java: psutil.Process) -> None:
        """Record the current memory of the workers below a Java process."""
        for process in java.children(recursive=True):
            with suppress(psutil.Error):
                if _is_python(process):
                    size = process.memory_info().rss
                    self._peaks[process.pid] = max(size, self._peaks.get(process.pid, 0))


@contextmanager
def watch_workers() -> Iterator[WorkerMemory]:
    """Sample the workers of the Spark that this process started, every 50 ms until the block ends."""
    memory, java, done = WorkerMemory(), spark_process(), threading.Event()

    def run() -> None:
        while not done.wait(_INTERVAL_S):
            memory.look(java)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        done.set()
        thread.join()


def spark_process() -> psutil.Process:
    """Return the Java process of the Spark that this process started.

    Raises:
        RuntimeError: There is none.
    """
    for process in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.Error):
            if "org.apache.spark.deploy.SparkSubmit" in process.cmdline():
                return process
    raise RuntimeError("no Spark runs below this process")


def _is_python(process: psutil.Process) -> bool:
    return any(part.startswith("pyspark.") for part in process.cmdline())
