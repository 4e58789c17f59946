"""Reading the changes of an upsert table, with old rows: each message is a new row of a key that the table has."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.data import SCHEMA, TOTALS, json_record
from bench.measure import MILLRACE, SPARK, Bench, Result, Series, alternate, records_per_second
from bench.memory import watch_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORK = "upsert read with old rows, 7 columns, a stream"
MEMORY = "memory of all workers, upsert read"
RESTORE = "restore of an upsert table's state"
PARTITIONS = 4
MEMORY_TARGET_MB = 1_500.0
RESTORE_TARGET_S = 60.0


def run(bench: Bench) -> list[Result]:
    """Measure updates of all keys of a table, beside a stream of as many messages by Spark's own connector.

    Both streams read all that is there and end; a run is from their start to their end. An update has two rows, so that
    as many messages are twice as many rows.
    """
    plain = bench.topics.filled(PARTITIONS)
    with bench.topics.empty(PARTITIONS) as topic, tempfile.TemporaryDirectory() as folder:
        table = _Table(bench, topic, Path(folder))
        table.write()
        table.read()

        def update() -> float:
            table.write()
            return records_per_second(bench.records, lambda: _check(table.read(), 2 * bench.records))

        def read_by_spark() -> float:
            return records_per_second(bench.records, lambda: _check(_read_by_spark(bench, plain), bench.records))

        with watch_workers() as memory:
            series = alternate(bench, WORK, {SPARK: read_by_spark, MILLRACE: update})
        seconds = table.restore()
    rows = Series(tuple(2 * value for value in series[MILLRACE].values))
    return [
        Result(WORK, "messages/s", series[MILLRACE], series[SPARK], target=1.0),
        Result(WORK, "rows/s", rows, series[SPARK], target=1.0),
        Result(MEMORY, "MB", Series((memory.all_at_once,)), None, MEMORY_TARGET_MB, at_most=True),
        Result(RESTORE, "s", Series((seconds,)), None, RESTORE_TARGET_S, at_most=True),
    ]


def _check(rows: int, expected: int) -> None:
    if rows != expected:
        raise RuntimeError(f"the stream gave {rows} rows instead of {expected}")


def _read_by_spark(bench: Bench, topic: str) -> int:
    source = bench.spark.readStream.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    values = source.option("subscribe", topic).option("startingOffsets", "earliest").load()
    rows = values.selectExpr(f"from_json(string(value), '{SCHEMA}') record").select("record.*")
    with tempfile.TemporaryDirectory() as checkpoint:
        return _count(rows, Path(checkpoint))


def _count(rows: DataFrame, checkpoint: Path) -> int:
    """Read all rows of a stream that there are, and return their number."""
    counts: list[int] = []

    def total(batch: DataFrame, _: int) -> None:
        counts.append(batch.selectExpr(*TOTALS).collect()[0]["records"])

    writer = rows.writeStream.foreachBatch(total).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(counts)


class _Table:
    """A topic of a table, and a stream that reads its changes run by run."""

    def __init__(self, bench: Bench, topic: str, folder: Path) -> None:
        self._bench, self._topic, self._folder = bench, topic, folder
        self._round = 0

    def write(self, records: int | None = None) -> None:
        """Write another row of each key, or of the first keys."""
        self._round += 1
        quantity = f'"qty": {self._round}'.encode()
        count = self._bench.records if records is None else records
        messages = ((b'{"id": %d}' % n, json_record(n).replace(b'"qty": ', quantity)) for n in range(count))
        self._bench.topics.fill_keyed(self._topic, PARTITIONS, messages)

    def read(self) -> int:
        """Read all changes that are new, and return their number."""
        source = self._bench.spark.readStream.format("millrace").schema(f"row_kind STRING, {SCHEMA}")
        source = source.option("properties.bootstrap.servers", self._bench.servers).option("topic", self._topic)
        source = source.options(**{"connector": "upsert-kafka", "key.format": "json", "key.fields": "id"})
        source = source.option("value.format", "json").option("state.checkpoints.dir", str(self._folder / "state"))
        rows = source.option("state.backend.local-dir", str(self._folder / "local")).load()
        return _count(rows, self._folder / "checkpoint")

    def restore(self) -> float:
        """Return the seconds by which a run takes longer when the executors' stores are lost."""
        seconds = []
        # The first of them applies what was written last
        for is_lost in (False, False, True):
            if is_lost:
                shutil.rmtree(self._folder / "local")
            self.write(records=PARTITIONS)
            started = time.perf_counter()
            _check(self.read(), 2 * PARTITIONS)
            seconds.append(time.perf_counter() - started)
        return max(0.0, seconds[2] - seconds[1])
