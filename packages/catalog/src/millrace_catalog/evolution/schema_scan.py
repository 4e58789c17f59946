"""Scan a micro-batch, on the executors, for the messages that change a table's schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import SampledMessage
from millrace_catalog.evolution.evolving_table import EvolvingTable, TableLayout
from millrace_catalog.evolution.uncommitted_batch import UncommittedRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "partition INT, offset BIGINT, key BINARY, value BINARY"
_CONNECTION_PREFIXES = ("properties.", "kafka.")
_FORWARDED_OPTIONS = {"scan.header-filter", "scan.filter.language", "scan.fail-on-data-loss", "failondataloss"}


def find_relevant_messages(
    spark: SparkSession, layout: TableLayout, state: str, ranges: Sequence[UncommittedRange], options: Mapping[str, str]
) -> list[SampledMessage]:
    """Return the messages that are relevant to a table's schema, ordered by partition and offset.

    A message is left out if the columns required by earlier messages of its partition hold it, so that the returned
    messages change the schema as all messages would.

    Args:
        spark: Session that scans the messages.
        layout: Unchanging parts of the table's definition.
        state: State of the table: `EvolvingTable.state`.
        ranges: Offsets to scan in the table's topic.
        options: Data source options of the query.
    """
    rows = spark.read.format("millrace").options(**_scan_options(layout.topic, ranges, options)).schema(_COLUMNS).load()

    def keep_relevant(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables: dict[int, EvolvingTable] = {}
        for batch in batches:
            relevant = []
            for index, message in enumerate(_messages(batch)):
                if message.partition not in tables:
                    tables[message.partition] = EvolvingTable.restore(layout, state)
                if tables[message.partition].is_relevant(message):
                    relevant.append(index)
            if relevant:
                yield batch.take(pa.array(relevant, pa.int64()))

    relevant_rows = rows.mapInArrow(keep_relevant, _COLUMNS).toArrow().to_pylist()
    messages = (SampledMessage(**row) for row in relevant_rows)
    return sorted(messages, key=lambda message: (message.partition, message.offset))


def _messages(batch: pa.RecordBatch) -> Iterator[SampledMessage]:
    return map(SampledMessage, *(batch.column(name).to_pylist() for name in ("partition", "offset", "key", "value")))


def _scan_options(topic: str, ranges: Sequence[UncommittedRange], options: Mapping[str, str]) -> dict[str, str]:
    forwarded = {
        name: value
        for name, value in options.items()
        if name.lower().startswith(_CONNECTION_PREFIXES) or name.lower() in _FORWARDED_OPTIONS
    }
    starts = [(range_.partition, "earliest" if range_.start is None else range_.start) for range_ in ranges]
    return {
        **forwarded,
        "topic-partitions": f"{topic}:{','.join(str(range_.partition) for range_ in ranges)}",
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": _format_offsets(starts),
        "scan.bounded.mode": "specific-offsets",
        "scan.bounded.specific-offsets": _format_offsets((range_.partition, range_.end) for range_ in ranges),
    }


def _format_offsets(offsets: Iterable[tuple[int, int | str]]) -> str:
    return ";".join(f"partition:{partition},offset:{offset}" for partition, offset in offsets)
