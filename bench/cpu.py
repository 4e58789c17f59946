"""How much of the processor's time Spark takes: its JVM, and its Python workers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from bench.memory import spark_process

_TRIES = 3


def cpu_seconds_of(work: Callable[[], Any]) -> float:
    """Do work in Spark and say how much time of all cores together it took.

    Raises:
        RuntimeError: Spark ended a daemon of its Python workers each time, with which what they took is forgotten.
    """
    for _ in range(_TRIES):
        before = _cpu_seconds()
        work()
        after = _cpu_seconds()
        if before.keys() <= after.keys():
            return sum(after.values()) - sum(before.values())
    raise RuntimeError("Spark ends the daemon of its Python workers again and again")


def _cpu_seconds() -> dict[int, float]:
    """By the JVM and each of its children, with all that are below them and have been."""
    java = spark_process()
    times = java.cpu_times()
    found = {java.pid: times.user + times.system}
    for child in java.children():
        with suppress(psutil.Error):
            found[child.pid] = _with_children(child) + sum(map(_with_children, child.children(recursive=True)))
    return found


def _with_children(process: psutil.Process) -> float:
    """What a process has taken, and those below it that have ended."""
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0
