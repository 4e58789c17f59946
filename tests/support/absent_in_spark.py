"""Writes of Spark whose broker is paused or killed while most of their rows wait for it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import millrace
from millrace_broker import KafkaBroker
from support.kafka import consume, produce, wait_for_markers
from support.processor_time import shares_of_processor

TASKS = 2
ROWS = 400_000
_FIRST = 50_000
"""Rows of a task that fill a batch of each partition, which is sent without being flushed."""

_VALUE = "CAST(lpad(CAST(id AS STRING), 120, '0') AS BINARY) AS value"


class HeldWrite:
    """A write of 400,000 rows of 120 bytes by two tasks, which hold 300,000 back until the broker is absent.

    Args:
        spark: The session.
        folder: For the checkpoint, and the file that lets the rows go.
        target: The broker that is going to be absent.
        guarantee: The delivery guarantee.
        options: Further options of the sink.
    """

    def __init__(self, spark: SparkSession, folder: Path, target: KafkaBroker, guarantee: str, **options: str) -> None:
        self._spark, self._target = spark, target
        self._gate, self._checkpoint = folder / "gate", str(folder / "checkpoint")
        self._options = {
            "properties.bootstrap.servers": target.bootstrap_servers,
            "topic": "target",
            "sink.partitioner": "round-robin",
            "sink.delivery-guarantee": guarantee,
            "properties.queue.buffering.max.messages": "400000",
            **({"sink.transactional-id-prefix": "absent"} if guarantee == "exactly-once" else {}),
            **options,
        }
        target.create_topic("target", 4)

    def start_batch(self) -> Future[None]:
        """Start a batch write."""
        rows = self._held(self._spark.range(0, ROWS, 1, TASKS).selectExpr(_VALUE))
        write = rows.write.format("millrace").options(**self._options).mode("append")
        pool = ThreadPoolExecutor(1, initializer=millrace.set_active_session, initargs=(self._spark,))
        writing = pool.submit(write.save)
        pool.shutdown(wait=False)
        return writing

    def start_stream(self, source: KafkaBroker, topic: str) -> Any:
        """Start a stream that reads its rows from a topic of two partitions, in one micro-batch."""
        read = {"properties.bootstrap.servers": source.bootstrap_servers, "topic": topic}
        rows = self._spark.readStream.format("millrace").options(**read, **{"scan.startup.mode": "earliest-offset"})
        writer = self._held(rows.load().select("value")).writeStream.format("millrace")
        return writer.options(**self._options).option("checkpointLocation", self._checkpoint).start()

    def release(self) -> None:
        """Let the rows go that are held back."""
        self._gate.touch()

    def arrived(self) -> Counter[int]:
        """Return how often each row has arrived."""
        wait_for_markers(self._target.bootstrap_servers, "target")
        return Counter(int(message.value()) for message in consume(self._target.bootstrap_servers, "target"))

    def _held(self, rows: DataFrame) -> DataFrame:
        return rows.mapInArrow(_hold(self._gate), "value binary")


def _hold(gate: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def hold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Before the broker is absent, all rows have been read
        rows = pa.Table.from_batches(list(batches))
        yield from rows.slice(0, _FIRST).to_batches(max_chunksize=10_000)
        while not gate.exists():
            time.sleep(0.05)
        yield from rows.slice(_FIRST).to_batches(max_chunksize=10_000)

    return hold


def fill(broker: KafkaBroker, topic: str) -> None:
    """Write the rows of a stream to a topic."""
    rows = ({"partition": number % TASKS, "value": b"%0120d" % number} for number in range(ROWS))
    queue = {"queue.buffering.max.messages": str(ROWS), "linger.ms": "50"}
    produce(broker.bootstrap_servers, topic, rows, **queue)


def largest_shares(seconds: float, *brokers: KafkaBroker) -> dict[str, float]:
    """Watch all processes but brokers, and return the five that used the processor most, in cores."""
    shares = shares_of_processor(seconds, [broker.pid for broker in brokers])
    return dict(sorted(shares.items(), key=lambda each: -each[1])[:5])
