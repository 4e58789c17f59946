"""Memory of Spark's Python workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

_INTERVAL_S = 0.05
_LOOKS_PER_SUM = 20
_MEGABYTE = 1_000_000


class WorkerMemory:
    """Peak memory of Python workers so far, in megabytes."""

    def __init__(self) -> None:
        self._peaks: dict[int, int] = {}
        self._at_once = 0
        self._looks = 0

    @property
    def largest(self) -> float:
        """Peak resident memory of the largest worker, in MB.

        Raises:
            RuntimeError: No worker was seen.
        """
        if not self._peaks:
            raise RuntimeError("no Python worker of Spark was seen")
        return max(self._peaks.values()) / _MEGABYTE

    @property
    def all_at_once(self) -> float:
        """Peak of the memory of all workers together, in MB: what they share counts once."""
        return self._at_once / _MEGABYTE

    def look(self, java: psutil.Process) -> None:
        """Record the current memory of the workers below a Java process."""
        self._looks += 1
        # The system walks through all pages of a process for it
        is_sum_due, shares = self._looks % _LOOKS_PER_SUM == 1, 0
        for process in java.children(recursive=True):
            with suppress(psutil.Error):
                if _is_python(process):
                    size = process.memory_info().rss
                    self._peaks[process.pid] = max(size, self._peaks.get(process.pid, 0))
                    shares += _proportional_size(process) if is_sum_due else 0
        self._at_once = max(self._at_once, shares)


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


def _proportional_size(process: psutil.Process) -> int:
    """Return the memory of a process in bytes, of which it shares some with others, and then has a part."""
    with suppress(OSError):
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return 0


def _is_python(process: psutil.Process) -> bool:
    return any(part.startswith("pyspark.") for part in process.cmdline())
