"""Run pipelines in one driver that is killed when each of them has reached a point of its own.

Its arguments come as JSON: jars, and pipelines by name, each with its YAML, its checkpoint and its point, the name of a
function of this file. Those that have reached theirs wait for the others, so that one driver serves all of them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import millrace
from millrace_catalog.jvm import HadoopFolder
from millrace_catalog.sinks.atomic_replace import NEW
from millrace_catalog.sinks.jdbc.database import Connection
from millrace_cdc import Pipeline
from millrace_cdc.connectors.delta.tables import DeltaSinkTable
from millrace_cdc.connectors.iceberg.catalog import IcebergCatalog, IcebergTable
from millrace_cdc.connectors.kafka.sink import KafkaPipelineSink
from millrace_cdc.connectors.parquet.sink import ParquetPipelineSink
from millrace_cdc.runtime.micro_batch import MicroBatches
from millrace_cdc.runtime.state_store import StateStore

given = json.loads(sys.argv[1])
waiting: set[str] = set()
lock = threading.Lock()


def reached(name: str) -> None:
    """End with the last pipeline that is yet to come, and never return."""
    with lock:
        waiting.add(name)
        if waiting == given["pipelines"].keys():
            print("all points are reached", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()


def die(
    name: str,
    owner: type,
    method: str,
    *,
    after: bool = False,
    number: int = 0,
    applies: Callable[..., bool] = lambda *_: True,
) -> None:
    """Let a pipeline die before or after one of the calls of a method that count; the first has number 0."""
    real, calls = getattr(owner, method), [0]

    def deadly(self: Any, *arguments: Any, **named: Any) -> Any:
        if not applies(self, *arguments):
            return real(self, *arguments, **named)
        with lock:
            calls[0] += 1
            is_last = calls[0] > number
        if is_last and not after:
            reached(name)
        result = real(self, *arguments, **named)
        if is_last:
            reached(name)
        return result

    setattr(owner, method, deadly)


def die_between(name: str, owner: type, method: str, applies: Callable[..., bool] = lambda *_: True) -> None:
    """Let a pipeline die when the first call of a method has ended, and those for other tables have not begun."""
    real, is_done, is_first = getattr(owner, method), threading.Event(), [True]

    def deadly(self: Any, *arguments: Any, **named: Any) -> Any:
        if not applies(self, *arguments):
            return real(self, *arguments, **named)
        with lock:
            goes_on, is_first[0] = is_first[0], False
        if not goes_on:
            is_done.wait()
            reached(name)
        result = real(self, *arguments, **named)
        is_done.set()
        return result

    setattr(owner, method, deadly)


def of_kafka(batches: MicroBatches, *_: Any) -> bool:
    return isinstance(batches._sink, KafkaPipelineSink)


def schemas_of_kafka(store: StateStore, batch: int, _: str) -> bool:
    # The state of the beginning is stored before the first micro-batch
    return batch >= 0 and store._folder.path("").startswith(given["pipelines"]["kafka"]["checkpoint"])


POINTS: dict[str, Callable[[str], None]] = {
    "schemas are stored": lambda name: die(name, StateStore, "save", after=True, applies=schemas_of_kafka),
    "schemas are not stored": lambda name: die(name, StateStore, "save", applies=schemas_of_kafka),
    "micro-batch is written": lambda name: die(name, MicroBatches, "process", after=True, applies=of_kafka),
    # The commits of a run: of the table of pipelines, of schema changes, and of rows
    "amid tables of database": lambda name: die(name, Connection, "commit", number=1),
    "rows are in database": lambda name: die(name, Connection, "commit", number=2, after=True),
    "amid columns of database": lambda name: die(name, Connection, "commit", number=2),
    "amid tables of Iceberg": lambda name: die_between(name, IcebergCatalog, "create"),
    "files of Iceberg are written": lambda name: die(name, IcebergTable, "commit"),
    "between commits of Iceberg": lambda name: die_between(
        name, IcebergTable, "commit", lambda table, entries, columns, pipeline, batch: batch > 0
    ),
    "amid tables of Delta": lambda name: die_between(name, DeltaSinkTable, "fit"),
    "rows of Delta are read": lambda name: die(name, DeltaSinkTable, "write"),
    "between commits of Delta": lambda name: die_between(
        name, DeltaSinkTable, "write", lambda this, table, rows, pipeline, batch: batch > 0
    ),
    "files of parquet are written": lambda name: die(name, ParquetPipelineSink, "_move"),
    "between tables of parquet": lambda name: die_between(name, ParquetPipelineSink, "_move"),
    # All of the old files are gone, and one of the new ones has come
    "amid wider files of parquet": lambda name: die(
        name, HadoopFolder, "move", number=1, applies=lambda folder, file, to: file.startswith(f"{NEW}/")
    ),
}

spark = millrace.local_session("pipelines", cores=2, config={"spark.jars": ",".join(given["jars"])})
for name, pipeline in given["pipelines"].items():
    POINTS[pipeline["point"]](name)
    found = Pipeline.from_yaml(pipeline["yaml"])
    running = found.run(spark, checkpoint_location=pipeline["checkpoint"], interval="1 second")
    # One after the other: Spark gives the Python process of a source ten seconds to start
    while name not in waiting:
        if running.await_termination(0.1):
            sys.exit(f"{name} has ended before its point")
threading.Event().wait()
