"""Messages and rows in memory that measurements share: in Spark as a cached DataFrame, in Python workers as lists."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import record_rows
from bench.formats.case import FormatCase
from bench.measure import Bench
from millrace.contracts import ROW_KINDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TASKS = 4

_BAD_EVERY = 10_000
_MESSAGES = 200_000


class Pool:
    """The messages of a format, and their rows.

    Args:
        bench: Says how many records a run has, which become as many passes as are needed.
        case: The format.
        file: Where to write the messages, for Python workers; rows are written beside it.
        has_bad: Whether one message of 10,000 cannot be read.
    """

    def __init__(self, bench: Bench, case: FormatCase, file: Path, *, has_bad: bool = False) -> None:
        self.size = min(_MESSAGES, bench.records)
        self._passes = bench.records // self.size
        self._bench = bench
        self.records = self.size * self._passes
        self.file = file
        messages = case.messages(0, self.size)
        if has_bad:
            messages = with_bad(case, messages, 0)
        pq.write_table(pa.table({"value": pa.array(messages, pa.binary())}), file)
        self.rows_file = file.with_suffix(".rows.parquet")
        pq.write_table(pa.Table.from_batches([_rows(case, self.size)]), self.rows_file)

    @contextmanager
    def values(self) -> Iterator[DataFrame]:
        """Return the messages as the column ``value``, in the JVM's memory."""
        with self.cached(self._bench.spark.read.parquet(str(self.file)).repartition(TASKS)) as values:
            yield values

    @contextmanager
    def rows(self) -> Iterator[DataFrame]:
        """Return the rows of all messages, in the JVM's memory."""
        with self.cached(self._bench.spark.read.parquet(str(self.rows_file)).repartition(TASKS)) as rows:
            yield rows

    @contextmanager
    def cached(self, rows: DataFrame) -> Iterator[DataFrame]:
        """Return the rows of one pass, in the JVM's memory, once for each pass."""
        persisted = rows.cache()
        try:
            persisted.count()
            yield functools.reduce(lambda all_, more: all_.union(more), [persisted] * self._passes)
        finally:
            persisted.unpersist(blocking=True)

    def tasks(self) -> DataFrame:
        """Return rows with the column ``id``, one for each task of each pass."""
        count = TASKS * self._passes
        return self._bench.spark.range(0, count, 1, count)


def _rows(case: FormatCase, count: int) -> pa.RecordBatch:
    rows = record_rows(0, count)
    if not case.has_row_kinds:
        return rows
    kinds = pa.array(ROW_KINDS).take(pa.array(np.arange(count) % len(ROW_KINDS)))
    return pa.RecordBatch.from_arrays([kinds, *rows.columns], schema=case.arrow_schema)


def with_bad(case: FormatCase, messages: list[bytes], start: int) -> list[bytes]:
    """Return messages from number ``start`` on, with one malformed message in 10,000."""
    first = (_BAD_EVERY // 2 - start) % _BAD_EVERY
    bad = {index: case.bad(messages[index]) for index in range(first, len(messages), _BAD_EVERY)}
    return [bad.get(index, message) for index, message in enumerate(messages)]
