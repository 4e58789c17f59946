"""The Python workers of a Spark session that the tests started."""

from __future__ import annotations

import os

import psutil


def python_workers() -> list[psutil.Process]:
    """The processes that run Spark's Python tasks, below this process; not their parent daemon."""
    return [
        process
        for process in psutil.Process(os.getpid()).children(recursive=True)
        if "pyspark.worker" in _command(process) and "pyspark.worker" in _command(process.parent())
    ]


def _command(process: psutil.Process | None) -> list[str]:
    try:
        return process.cmdline() if process else []
    except psutil.NoSuchProcess:
        return []
