"""Logs of any layout under any limits: each visible record is read exactly once, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructType

from pyspark_millrace import DefaultSource
from support.kafka import consume
from support.log_layouts import Layout, Logs, Produce, Repeat, Transaction, Truncate, layouts

SCHEMA = StructType().add("partition", IntegerType()).add("offset", LongType()).add("value", BinaryType())

Record = tuple[int, int, bytes]
Offset = dict[str, Any]

options = st.fixed_dictionaries(
    {"properties.isolation.level": st.sampled_from(["read_committed", "read_uncommitted"])},
    optional={
        "scan.max-records-per-batch": st.integers(5, 60),
        "scan.max-bytes-per-batch": st.integers(1_000, 10_000),
        "scan.split.max-records": st.integers(1, 30),
        "scan.parallelism": st.integers(1, 8),
        "scan.min-records-per-batch": st.integers(2, 40),
        "scan.watermark.alignment.max-drift": st.sampled_from(["1 ms", "10 ms", "1 h"]),
    },
)


@pytest.fixture(scope="module")
def logs(broker) -> Logs:
    return Logs(broker.bootstrap_servers)


class Stream:
    """A streaming query as Spark runs it, in this process; offsets go through JSON, as in a checkpoint."""

    def __init__(self, servers: str, topic: str, given: dict[str, Any]) -> None:
        self._options = {
            "properties.bootstrap.servers": servers,
            "topic": topic,
            "scan.startup.mode": "earliest-offset",
            **{name: str(value) for name, value in given.items()},
        }
        self._limit = given.get("scan.max-records-per-batch")
        self._reader = self._new_reader()
        self._at: Offset = stored(self._reader.initialOffset())
        self.batches: list[tuple[Offset, Offset]] = []

    def micro_batches(self) -> Iterator[list[Record]]:
        """The records of one micro-batch after the other, until there is nothing left."""
        while True:
            end = stored(self._reader.latestOffset(self._at, self._reader.getDefaultReadLimit()))
            if end == self._at:
                return
            self.batches.append((self._at, end))
            records = read(self._reader, self._reader.partitions(self._at, end))
            assert self._limit is None or len(records) <= self._limit
            self._at = end
            yield records

    def drain(self) -> None:
        """Skip all further waits."""
        self._reader.prepareForTriggerAvailableNow()

    def again(self) -> list[list[Record]]:
        """The records of all micro-batches so far, planned and read again, as after a restart."""
        reader = self._new_reader()
        return [read(reader, reader.partitions(start, end)) for start, end in self.batches]

    def _new_reader(self) -> DataSourceStreamReader:
        return DefaultSource(self._options).streamReader(SCHEMA)


def stored(offset: Offset) -> Offset:
    return json.loads(json.dumps(offset))


def read(reader: DataSourceStreamReader, partitions: list[InputPartition]) -> list[Record]:
    batches = [batch for partition in partitions for batch in reader.read(partition)]
    columns = pa.Table.from_batches(batches).to_pydict() if batches else {"partition": (), "offset": (), "value": ()}
    return list(zip(*columns.values(), strict=True))


def visible(servers: str, topic: str, isolation: str) -> list[Record]:
    return [(found.partition(), found.offset(), found.value()) for found in consume(servers, topic, isolation)]


COMMITTED = {"properties.isolation.level": "read_committed"}
ALL_ABORTED = Layout([Transaction(0, 5, 0, commits=False), Transaction(2, 1, 0, commits=False)])
CUT_IN_A_TRANSACTION = Layout([Produce(1, 3), Transaction(1, 20, 4, commits=True), Truncate(1, 50), Produce(1, 2)])
EMPTIED = Layout([Produce(0, 9), Truncate(0, 100), Produce(2, 4)], later=[Produce(0, 2)])
COMPACTED = Layout([Repeat(0, 40, 2), Repeat(0, 30, 1), Produce(0, 1), Truncate(0, 30)], compacted=True, left_open=True)


@settings(max_examples=settings.default.max_examples // 6)
@given(layout=layouts, options=options)
@example(ALL_ABORTED, COMMITTED | {"scan.max-records-per-batch": 2})
@example(CUT_IN_A_TRANSACTION, COMMITTED | {"scan.max-records-per-batch": 7, "scan.split.max-records": 2})
@example(EMPTIED, COMMITTED | {"scan.max-bytes-per-batch": 10})
@example(CUT_IN_A_TRANSACTION, COMMITTED | {"scan.min-records-per-batch": 30})
@example(ALL_ABORTED, COMMITTED | {"scan.watermark.alignment.max-drift": "1 ms", "scan.max-records-per-batch": 3})
@example(COMPACTED, COMMITTED | {"scan.max-records-per-batch": 9, "scan.parallelism": 3})
def test_each_visible_record_of_any_log_is_read_once_and_in_order(broker, logs, layout, options):
    servers, isolation = broker.bootstrap_servers, options["properties.isolation.level"]
    topic = logs.topic(compacted=layout.compacted)
    logs.carry_out(topic, layout.steps, compacted=layout.compacted)
    if layout.compacted:
        # What is read must not go away before it is compared
        logs.stop_compaction(topic)
    stream = Stream(servers, topic, options)
    micro_batches = stream.micro_batches()
    batches = [next(micro_batches, [])]
    logs.carry_out(topic, layout.later, compacted=False)
    with logs.open_transaction(topic) if layout.left_open else nullcontext():
        batches += stream.micro_batches()
        # What was too little for a micro-batch
        stream.drain()
        batches += stream.micro_batches()

        found = [record for batch in batches for record in batch]
        assert sorted(found) == visible(servers, topic, isolation)
        for partition in range(3):
            offsets = [offset for number, offset, _ in found if number == partition]
            assert offsets == sorted(offsets)
        # Partitions that share a task come in any order
        assert [sorted(batch) for batch in stream.again() if batch] == [sorted(batch) for batch in batches if batch]
    logs.delete(topic)
