"""The benchmark's cases, one file for each kind of work."""

from __future__ import annotations

import functools
from collections.abc import Callable

from bench.cases import (
    arrow_read,
    bad_messages,
    decode,
    encode,
    exactly_once,
    format_read,
    json_copy,
    json_read,
    json_write,
    limited_read,
    micro_batch,
    network,
    network_stream,
    pipeline,
    planning,
    raw_read,
    sql_insert,
    upsert_read,
    watched_micro_batch,
    worker_memory,
)
from bench.formats import FORMATS
from bench.measure import Bench, Result

_OF_FORMATS = {"decode": decode.run, "encode": encode.run, "read": format_read.run, "bad": bad_messages.run}

CASES: dict[str, Callable[[Bench], list[Result]]] = {
    "raw-read": raw_read.run,
    "metadata-read": raw_read.run_with_metadata,
    "compressed-read": raw_read.run_compressed,
    "tls-read": raw_read.run_encrypted,
    "json-read": json_read.run,
    "arrow-read": arrow_read.run,
    "json-write": json_write.run,
    "upsert-write": json_write.run_upserts,
    "json-copy": json_copy.run,
    "sql-insert": sql_insert.run,
    **{
        # Reading JSON has a case of its own
        f"{name}-{kind}": functools.partial(run, name=name)
        for name in FORMATS
        for kind, run in _OF_FORMATS.items()
        if (name, kind) != ("json", "read")
    },
    "upsert-read": upsert_read.run,
    "exactly-once": exactly_once.run,
    "micro-batch": micro_batch.run,
    "watched-micro-batch": watched_micro_batch.run,
    "network-read": network.run_reads,
    "network-limit": limited_read.run,
    "network-write": network.run_writes,
    "network-micro-batch": network_stream.run_micro_batches,
    "network-latency": network_stream.run_latency,
    "planning": planning.run,
    "pipeline": pipeline.run,
    "worker-memory": worker_memory.run,
    "large-partition": worker_memory.run_large,
}
"""The cases by their names on the command line, in the order in which they run."""
