"""The processor time of this process and of all processes that it has started."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import suppress

import psutil


def shares_of_processor(seconds: float, without: Collection[int | None]) -> dict[str, float]:
    """Watch this process and those below it, and return how many cores each has used, by its id and command.

    Args:
        seconds: How long. What starts or ends meanwhile counts, too.
        without: The ids of processes that do not count.
    """
    began = time.monotonic()
    first = dict(_used(without))
    last = dict(first)
    while (took := time.monotonic() - began) < seconds:
        time.sleep(0.5)
        last.update(_used(without))
    return {name: (used - first.get(name, 0.0)) / took for name, used in last.items()}


def _used(without: Collection[int | None]) -> Iterator[tuple[str, float]]:
    """Yield the commands of processes, and their processor time in seconds."""
    this = psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            if process.pid not in without and process.status() != psutil.STATUS_ZOMBIE:
                times = process.cpu_times()
                yield _name(process), times.user + times.system


def _name(process: psutil.Process) -> str:
    command = process.cmdline()
    module = command[command.index("-m") + 1 :] if "-m" in command else command[:1]
    return f"{process.pid} {' '.join(module)}"
