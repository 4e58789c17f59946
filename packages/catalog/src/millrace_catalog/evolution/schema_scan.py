"""Finding, on the executors, the messages of a micro-batch that a table's columns must follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import SampledMessage
from millrace_catalog.evolution.evolving_table import EvolvingTable
from millrace_catalog.evolution.layout import Layout
from millrace_catalog.evolution.uncommitted_batch import Range

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "partition INT, offset BIGINT, key BINARY, value BINARY"
_CONNECTION = ("properties.", "kafka.")
_ALSO = {"scan.header-filter", "scan.filter.language", "scan.fail-on-data-loss", "failondataloss"}


def find_messages(
    spark: SparkSession, layout: Layout, state: str, ranges: Sequence[Range], options: Mapping[str, str]
) -> list[SampledMessage]:
    """The messages that matter to a table's columns, by partition and offset.

    A message is left out when the columns that the table needs for those before it in its partition hold it as well,
    so that taking in what is found is the same as taking in all messages.

    Args:
        spark: The session.
        layout: What of the table does not change.
        state: What does.
        ranges: Where to look, in the table's topic.
        options: How the query reads the topic.
    """
    rows = spark.read.format("millrace").options(**_read_options(layout.topic, ranges, options)).schema(_COLUMNS).load()

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables: dict[int, EvolvingTable] = {}
        for batch in batches:
            kept = []
            for place, message in enumerate(_messages(batch)):
                if message.partition not in tables:
                    tables[message.partition] = EvolvingTable.restore(layout, state)
                if tables[message.partition].matters(message):
                    kept.append(place)
            if kept:
                yield batch.take(pa.array(kept, pa.int64()))

    found = rows.mapInArrow(find, _COLUMNS).toArrow().to_pylist()
    return sorted((SampledMessage(**row) for row in found), key=lambda each: (each.partition, each.offset))


def _messages(batch: pa.RecordBatch) -> Iterator[SampledMessage]:
    return map(SampledMessage, *(batch.column(name).to_pylist() for name in ("partition", "offset", "key", "value")))


def _read_options(topic: str, ranges: Sequence[Range], options: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value for name, value in options.items() if name.lower().startswith(_CONNECTION) or name.lower() in _ALSO
    }
    starts = [(each.partition, "earliest" if each.start is None else each.start) for each in ranges]
    return {
        **kept,
        "topic-partitions": f"{topic}:{','.join(str(each.partition) for each in ranges)}",
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": _offsets(starts),
        "scan.bounded.mode": "specific-offsets",
        "scan.bounded.specific-offsets": _offsets((each.partition, each.end) for each in ranges),
    }


def _offsets(places: Iterable[tuple[int, int | str]]) -> str:
    return ";".join(f"partition:{partition},offset:{offset}" for partition, offset in places)
