"""What is measured, one file for each kind of work."""

from __future__ import annotations

from collections.abc import Callable

from bench.cases import json_read, json_write, micro_batch, raw_read, worker_memory
from bench.measure import Bench, Result

CASES: dict[str, Callable[[Bench], list[Result]]] = {
    "raw-read": raw_read.run,
    "json-read": json_read.run,
    "json-write": json_write.run,
    "micro-batch": micro_batch.run,
    "worker-memory": worker_memory.run,
}
"""By the names that the command line takes, in the order in which they run."""
