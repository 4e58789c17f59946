"""A stream that writes JSON in micro-batches of about five seconds, exactly once and at least once."""

from __future__ import annotations

import functools
import statistics
import tempfile

from bench.batches import await_batches
from bench.data import with_columns
from bench.measure import MILLRACE, Bench, Result, alternate

WORK = "JSON write in micro-batches of 4 million records, exactly once"
AT_LEAST_ONCE = "millrace at least once"
PARTITIONS = 4
TASKS = 4
RECORDS = 4_000_000
BATCHES = 2
"""Number of micro-batches that count, after the first one."""

_GUARANTEES = {
    AT_LEAST_ONCE: {},
    MILLRACE: {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "bench"},
}


def run(bench: Bench) -> list[Result]:
    """Measure exactly-once and at-least-once writes."""
    runs = {name: functools.partial(_records_per_second, bench, name) for name in _GUARANTEES}
    series = alternate(bench, WORK, runs)
    return [
        Result(WORK, "records/s", series[MILLRACE], series[AT_LEAST_ONCE], target=0.8, base=AT_LEAST_ONCE),
    ]


def _records_per_second(bench: Bench, name: str) -> float:
    source = bench.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", RECORDS)
    rows = with_columns(source.option("numPartitions", TASKS).load().selectExpr("value id"))
    with tempfile.TemporaryDirectory() as checkpoint, bench.topics.empty(PARTITIONS) as topic:
        writer = rows.writeStream.format("millrace").option("properties.bootstrap.servers", bench.servers)
        writer = writer.options(topic=topic, format="json", checkpointLocation=checkpoint, **_GUARANTEES[name])
        query = writer.start()
        try:
            batches = await_batches(query, BATCHES + 1)[1:]
        finally:
            query.stop()
    return RECORDS / statistics.median(batch["durationMs"]["triggerExecution"] / 1000 for batch in batches)
