"""How much of the processor's time Spark takes: its JVM, and its Python workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import psutil

from bench.memory import spark_process


class Cost(NamedTuple):
    """What some work took.

    Attributes:
        seconds: By the clock.
        cpu_seconds: Of all cores together.
    """

    seconds: float
    cpu_seconds: float


def cost_of(work: Callable[[], Any]) -> Cost:
    """Do work in Spark and say what it took."""
    cpu, clock = _cpu_seconds(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - clock, _cpu_seconds() - cpu)


def _cpu_seconds() -> float:
    java, total = spark_process(), 0.0
    for process in (java, *java.children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            if process != java:  # workers that have ended are what Python's daemon has waited for
                total += times.children_user + times.children_system
    return total
