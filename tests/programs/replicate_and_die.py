"""Keep a folder in step with a topic in a driver that is killed at a chosen operation on files.

Its arguments come as JSON: options, topic, folder, checkpoint, and how often which operation is done before it is
killed, as ``{"move": ["_millrace/appended/", 1]}``: at the second file that is moved from there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import millrace
from millrace_catalog import KafkaJsonCatalog, ParquetSink, replicate
from millrace_catalog.jvm import HadoopFolder

given = json.loads(sys.argv[1])


def deadly(operation: Callable[..., None], start: str, left: int) -> Callable[..., None]:
    """Wrap an operation so that this process ends when it begins with its first path, after some times."""

    def operate(self: HadoopFolder, name: str, *more: Any) -> None:
        nonlocal left
        if name.startswith(start):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
        operation(self, name, *more)

    return operate


operations = {name: deadly(getattr(HadoopFolder, name), *when) for name, when in given["kill"].items()}
DeadlyFolder = type("DeadlyFolder", (HadoopFolder,), operations)

session = millrace.local_session("replicate", cores=2)
query = replicate(
    KafkaJsonCatalog.from_options(given["options"]).table(given["topic"]),
    ParquetSink(given["folder"], open_folder=DeadlyFolder),
    spark=session,
    checkpoint_location=given["checkpoint"],
    # More files than one
    options={"scan.parallelism": "4"},
    trigger={"availableNow": True},
)
query.await_termination()
