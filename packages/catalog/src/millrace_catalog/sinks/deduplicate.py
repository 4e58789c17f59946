"""Append only rows whose key a sink does not have yet.

The keys are read from the sink itself, so that no row is written twice by a replayed batch, by a batch that was partly
written when the process was killed, or by a query with a new checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace_catalog.sinks.table_sink import KEY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_MAX_RANGES = 50
"""With more partitions, the keys to look up are limited by offset alone, since each partition adds a condition."""


@dataclass(frozen=True)
class SinkKeys:
    """Access to the keys of a sink.

    Attributes:
        rows: Reads the columns of `KEY` lazily, so that a condition on them is pushed down.
        ends: Reads the last offset of each partition.
    """

    rows: Callable[[SparkSession], DataFrame]
    ends: Callable[[SparkSession], dict[int, int]]


@dataclass(frozen=True)
class _PartitionRange:
    partition: int
    first: int
    last: int


class Deduplicator:
    """Find the rows of micro-batches that a sink does not have.

    A sink has one writer, so rows after the last offset of their partition are new; its keys are read only for others.

    Args:
        keys: Keys of the sink.
    """

    def __init__(self, keys: SinkKeys) -> None:
        self._keys = keys
        self._ends: dict[int, int] | None = None

    def forget(self) -> None:
        """Forget the last offsets, since another query may have written to the sink."""
        self._ends = None

    def append(self, rows: DataFrame, write: Callable[[DataFrame], None]) -> None:
        """Write the rows of a micro-batch that the sink does not have, reading the batch once."""
        # So that ranges and write do not read and decode from Kafka twice
        rows = rows.persist()
        try:
            ranges = _ranges(rows)
            if ranges:
                self._append(rows, ranges, write)
        finally:
            rows.unpersist()

    def _append(self, rows: DataFrame, ranges: list[_PartitionRange], write: Callable[[DataFrame], None]) -> None:
        ends = self._keys.ends(rows.sparkSession) if self._ends is None else self._ends
        # A failed write may have added some of the rows
        self._ends = None
        if all(range_.first > ends.get(range_.partition, -1) for range_ in ranges):
            write(rows)
        else:
            existing = self._keys.rows(rows.sparkSession).where(_in_ranges(ranges))
            missing = rows.join(existing, [rows[name] == existing[name] for name in KEY], "left_anti")
            if not missing.isEmpty():
                write(missing)
        self._ends = ends | {range_.partition: max(range_.last, ends.get(range_.partition, -1)) for range_ in ranges}


def _ranges(rows: DataFrame) -> list[_PartitionRange]:
    partition, offset = KEY
    ranges = rows.groupBy(partition).agg(fn.min(offset).alias("first"), fn.max(offset).alias("last")).collect()
    return [_PartitionRange(row[partition], row["first"], row["last"]) for row in ranges]


def _in_ranges(ranges: list[_PartitionRange]) -> Column:
    """Return a condition that includes all keys of the ranges, and few others."""
    partition, offset = map(fn.col, KEY)
    if len(ranges) > _MAX_RANGES:
        return offset.between(min(range_.first for range_ in ranges), max(range_.last for range_ in ranges))
    condition = fn.lit(False)
    for range_ in ranges:
        condition = condition | ((partition == range_.partition) & offset.between(range_.first, range_.last))
    return condition
