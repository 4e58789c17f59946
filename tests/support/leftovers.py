"""Processes, threads and clients that a test has left running."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from support.waiting import wait_until

_DAEMONS = {"pyspark.daemon", "millrace.worker_daemon"}
"""Modules of the processes that Spark keeps for its next tasks."""


class Running(NamedTuple):
    """Processes, threads and clients that run at one moment.

    Attributes:
        processes: The ids of all processes below this one.
        threads: This process's threads in Python.
        clients: How many Kafka clients it has.
    """

    processes: set[int]
    threads: set[threading.Thread]
    clients: int


def running() -> Running:
    """Return the processes, threads and clients that run, without the workers that Spark keeps for the next task."""
    # Clients end with their objects
    gc.collect()
    below = psutil.Process(os.getpid()).children(recursive=True)
    return Running({each.pid for each in below if _is_of_a_test(each)}, set(threading.enumerate()), _clients())


def wait_until_gone(before: Running) -> None:
    """Wait until nothing runs that did not before.

    Raises:
        AssertionError: Something goes on; the message tells what.
    """
    left: list[str] = []

    def is_gone() -> bool:
        # Looked at once: a JVM that starts a process has a copy of itself for a moment
        left[:] = _left(before)
        return not left

    with suppress(AssertionError):
        wait_until(is_gone, "processes, threads and clients to end")
    assert not left, f"left running by this test: {left}"


def _left(before: Running) -> list[str]:
    now = running()
    found = [_described(pid) for pid in now.processes - before.processes]
    # Those of Spark's own gateway, and of pools that wait for work, come and go
    found += [each.name for each in now.threads - before.threads if each.name.startswith("millrace")]
    if now.clients > before.clients:
        found.append(f"{now.clients - before.clients} Kafka clients")
    return [each for each in found if each]


def _described(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:
        return ""


def _is_of_a_test(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and _DAEMONS.isdisjoint(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _clients() -> int:
    # Each has one such thread, and others for its brokers that come and go
    count = 0
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            count += (task / "comm").read_text().startswith("rdk:main")
    return count
