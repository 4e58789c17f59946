"""Adding what a target does not have, by the key alone.

The target's own rows say what it has, so that neither a batch that is replayed, one of which a part was written before
the process was killed, nor a query with a new checkpoint adds a row twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace_catalog.sinks.table_sink import KEY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_MOST_RANGES = 50
"""More partitions than this are not told apart where keys are looked for; the join does so."""


@dataclass(frozen=True)
class Keys:
    """How a target tells the keys of its rows.

    Attributes:
        rows: Its columns of `KEY`, read only where a condition on them says.
        ends: The last offset of each partition that it has.
    """

    rows: Callable[[SparkSession], DataFrame]
    ends: Callable[[SparkSession], dict[int, int]]


@dataclass(frozen=True)
class _Range:
    partition: int
    first: int
    last: int


class MissingRows:
    """Finds the rows of micro-batches that a target lacks.

    What is behind the last offset that the target has is missing for sure, since it has one writer; only for others
    its keys are read.

    Args:
        keys: The target's.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._ends: dict[int, int] | None = None

    def forget(self) -> None:
        """Look again what the target has; somebody else may have written since."""
        self._ends = None

    def add(self, rows: DataFrame, write: Callable[[DataFrame], None]) -> None:
        """Have those rows of a micro-batch written that the target lacks, reading the batch once."""
        # Neither the ranges nor the write are to read Kafka and decode again
        rows = rows.persist()
        try:
            ranges = _ranges(rows)
            if ranges:
                self._add(rows, ranges, write)
        finally:
            rows.unpersist()

    def _add(self, rows: DataFrame, ranges: list[_Range], write: Callable[[DataFrame], None]) -> None:
        ends = self._keys.ends(rows.sparkSession) if self._ends is None else self._ends
        # A write that fails may have added a part
        self._ends = None
        if all(each.first > ends.get(each.partition, -1) for each in ranges):
            write(rows)
        else:
            known = self._keys.rows(rows.sparkSession).where(_within(ranges))
            missing = rows.join(known, [rows[name] == known[name] for name in KEY], "left_anti")
            if not missing.isEmpty():
                write(missing)
        self._ends = ends | {each.partition: max(each.last, ends.get(each.partition, -1)) for each in ranges}


def _ranges(rows: DataFrame) -> list[_Range]:
    partition, offset = KEY
    found = rows.groupBy(partition).agg(fn.min(offset).alias("first"), fn.max(offset).alias("last")).collect()
    return [_Range(row[partition], row["first"], row["last"]) for row in found]


def _within(ranges: list[_Range]) -> Column:
    """The keys that may be those of the ranges; the fewer, the fewer ranges there are."""
    partition, offset = map(fn.col, KEY)
    if len(ranges) > _MOST_RANGES:
        return offset.between(min(each.first for each in ranges), max(each.last for each in ranges))
    condition = fn.lit(False)
    for each in ranges:
        condition = condition | ((partition == each.partition) & offset.between(each.first, each.last))
    return condition
