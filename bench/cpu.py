"""Processor time of Spark: of its JVM and its Python workers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from bench.memory import spark_process

_TRIES = 3


def cpu_seconds_of(work: Callable[[], Any]) -> float:
    """Run work in Spark, and return the processor time of all cores that it took.

    Raises:
        RuntimeError: Spark ended Python workers, or their daemon, each time, with which what they took is forgotten.
    """
    for _ in range(_TRIES):
        before = _cpu_seconds()
        work()
        after = _cpu_seconds()
        spent = sum(after.values()) - sum(before.values())
        # A worker that ends while it is looked at is missed
        if before.keys() <= after.keys() and spent >= 0:
            return spent
    raise RuntimeError("Spark ends its Python workers, or their daemon, again and again")


def _cpu_seconds() -> dict[int, float]:
    """Measure the JVM and each of its children, with all processes below them, also those that have ended."""
    java = spark_process()
    times = java.cpu_times()
    seconds = {java.pid: times.user + times.system}
    for child in java.children():
        with suppress(psutil.Error):
            seconds[child.pid] = _with_children(child) + sum(map(_with_children, child.children(recursive=True)))
    return seconds


def _with_children(process: psutil.Process) -> float:
    """Measure a process and those below it that have ended."""
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0
