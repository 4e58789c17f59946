"""The Python workers of Spark sessions that the tests started."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from contextlib import suppress

import psutil

from support.families import Family


def python_workers() -> list[psutil.Process]:
    """The processes that run Spark's Python tasks, below this process; not their parent daemon."""
    return _workers(psutil.Process(os.getpid()).children(recursive=True))


def kill_a_worker(driver: Family, chance: random.Random) -> bool:
    """Kill one Python worker of a driver; false when there is none."""
    workers = _workers(driver.processes())
    if not workers:
        return False
    with suppress(psutil.NoSuchProcess):
        chance.choice(workers).kill()
    return True


def _workers(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if "pyspark.worker" in _command(process) and "pyspark.worker" in _command(process.parent()):
                found.append(process)
    return found


def _command(process: psutil.Process | None) -> list[str]:
    try:
        return process.cmdline() if process else []
    except psutil.NoSuchProcess:
        return []
